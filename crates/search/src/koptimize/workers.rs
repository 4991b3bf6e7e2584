//! Depth first on every core: each worker has a stack of open nodes, and hands its oldest one to
//! workers that have none.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Ground;
use super::best::{Best, Shared};
use super::node::{Desk, Node};
use super::price::Price;
use super::sweep::sweep;
use crate::{Budget, Standing};

/// Nodes between two progress reports.
const PACE: u64 = 32;

/// What workers share.
pub(super) struct Crew<'a, P, const N: usize> {
    ground: &'a Ground<'a, P, N>,
    best: &'a Shared,
    budget: &'a Budget,
    /// Sets of this cost or more are not searched for.
    ceiling: Option<u64>,
    /// Nodes that no worker has.
    open: Mutex<Open<N>>,
    woken: Condvar,
    n_waiting: AtomicUsize,
    n_nodes: AtomicU64,
    is_stopped: AtomicBool,
    /// By worker, the least floor of its nodes.
    floors: Vec<AtomicU64>,
}

struct Open<const N: usize> {
    nodes: Vec<Node<N>>,
    n_busy: usize,
}

/// How a search ended.
#[derive(Debug)]
pub(super) struct Ended<const N: usize> {
    /// Nodes that were not visited.
    pub(super) open: Vec<Node<N>>,
    pub(super) n_nodes: u64,
}

/// Visits nodes and all below them, until none is left or the budget ends; with a ceiling, only for
/// sets that cost less.
pub(super) fn search<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    best: &Shared,
    nodes: Vec<Node<N>>,
    n_before: u64,
    budget: &Budget,
    ceiling: Option<u64>,
) -> Ended<N> {
    let n_workers = ground.n_workers;
    let crew = Crew {
        ground,
        best,
        budget,
        ceiling,
        open: Mutex::new(Open { nodes, n_busy: 0 }),
        woken: Condvar::new(),
        n_waiting: AtomicUsize::new(0),
        n_nodes: AtomicU64::new(n_before),
        is_stopped: AtomicBool::new(false),
        floors: (0..n_workers).map(|_| AtomicU64::new(u64::MAX)).collect(),
    };
    rayon::scope(|scope| {
        for worker in 0..n_workers {
            let crew = &crew;
            scope.spawn(move |_| crew.work(worker));
        }
    });
    let open = crew.open.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ended { open: open.nodes, n_nodes: crew.n_nodes.into_inner() }
}

/// A worker that has nodes to visit. If it panics, the others stop too.
struct Busy<'a, 'b, P: Price, const N: usize>(&'a Crew<'b, P, N>);

impl<P: Price, const N: usize> Drop for Busy<'_, '_, P, N> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_stopped.store(true, Ordering::Relaxed);
        }
        self.0.open().n_busy -= 1;
        self.0.woken.notify_all();
    }
}

impl<P: Price, const N: usize> Crew<'_, P, N> {
    fn open(&self) -> MutexGuard<'_, Open<N>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, worker: usize) {
        let mut desk = Desk::default();
        let mut stack: Vec<Node<N>> = Vec::new();
        let mut n_nodes = 0;
        while let Some(node) = self.next(worker) {
            let busy = Busy(self);
            stack.push(node);
            while let Some(node) = stack.pop() {
                n_nodes += 1;
                if n_nodes % PACE == 0 {
                    self.say(worker, &stack, node.floor);
                }
                if self.shall_stop() {
                    stack.push(node);
                    break;
                }
                self.n_nodes.fetch_add(1, Ordering::Relaxed);
                self.visit(node, &mut stack, &mut desk);
                if stack.len() > 1 && self.n_waiting.load(Ordering::Relaxed) > 0 {
                    let oldest = stack.remove(0);
                    self.open().nodes.push(oldest);
                    self.woken.notify_one();
                }
            }
            let mut open = self.open();
            open.nodes.append(&mut stack);
            // Under the lock, so that other workers see the nodes either here or there.
            self.floors[worker].store(u64::MAX, Ordering::Relaxed);
            drop(open);
            drop(busy);
        }
    }

    /// Takes the waiting node with the least floor. `None` when there is nothing left to do.
    fn next(&self, worker: usize) -> Option<Node<N>> {
        let mut open = self.open();
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return None;
            }
            let nodes = open.nodes.iter().enumerate();
            if let Some(at) = nodes.min_by_key(|(_, node)| node.floor).map(|(at, _)| at) {
                open.n_busy += 1;
                let node = open.nodes.swap_remove(at);
                self.floors[worker].store(node.floor, Ordering::Relaxed);
                return Some(node);
            }
            if open.n_busy == 0 {
                return None;
            }
            self.n_waiting.fetch_add(1, Ordering::Relaxed);
            open = self.woken.wait(open).unwrap_or_else(PoisonError::into_inner);
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether the budget ends the search. Checked at every node, since nodes of large tables take
    /// long.
    fn shall_stop(&self) -> bool {
        let n_nodes = self.n_nodes.load(Ordering::Relaxed);
        if self.budget.is_spent() || self.budget.has_seen(n_nodes) {
            self.is_stopped.store(true, Ordering::Relaxed);
            self.woken.notify_all();
        }
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Reports the progress of the search.
    fn say(&self, worker: usize, stack: &[Node<N>], floor: u64) {
        let least = stack.iter().map(|node| node.floor).min().unwrap_or(u64::MAX).min(floor);
        self.floors[worker].store(least, Ordering::Relaxed);
        let open = self.open();
        let waiting = open.nodes.iter().map(|node| node.floor).min();
        let others = self.floors.iter().map(|floor| floor.load(Ordering::Relaxed));
        let least = others.chain(waiting).min().unwrap_or(least);
        drop(open);
        let best = self.best.get();
        let least = if self.ceiling.is_some() { 0 } else { least.min(best.cost) };
        let cost = self.ground.value(best.cost);
        self.budget.say(Standing {
            best: self.ground.is_release(&best).then_some(cost),
            lower_bound: self.ground.value(self.best.raise(least)),
            nodes: self.n_nodes.load(Ordering::Relaxed),
        });
    }

    /// Visits a node: offers its sets, and opens the nodes below it.
    fn visit(&self, mut node: Node<N>, stack: &mut Vec<Node<N>>, desk: &mut Desk) {
        let ground = self.ground;
        let best = self.bar();
        if ground.rules.bound && best.beats(node.floor, node.n_cuts + 1) {
            return;
        }
        loop {
            if !node.reduce(ground, desk, &best) {
                return;
            }
            if !ground.rules.along {
                break;
            }
            match node.tighten(ground, desk, &best) {
                None => return,
                Some(true) => {}
                Some(false) => break,
            }
        }
        let can_sweep =
            ground.rules.sweep && ground.is_plain && ground.has_room(node.tail.iter().count());
        let last = node.only_attribute(ground).filter(|_| can_sweep);
        if let Some(attribute) = last {
            let Some(swept) = sweep(ground, &node, attribute, ground.problem.limit) else { return };
            debug_assert!(swept.cost >= node.floor, "K2");
            if swept.n_lost <= ground.problem.limit {
                let mut cuts = ground.space.cuts(&node.made);
                swept.cuts.iter().for_each(|&code| cuts.insert(attribute, code));
                self.offer(swept.cost, swept.n_lost, cuts);
                return;
            }
            if best.beats(swept.cost, node.n_cuts + 1) {
                return;
            }
            node.floor = node.floor.max(swept.cost);
        }
        let Some(step) = node.choose(ground, desk) else { return };
        let with = node.with(ground, step);
        let without = node.without(ground, step);
        stack.push(without);
        if let Some(node) = with {
            self.offer_made(&node);
            stack.push(node);
        }
    }

    /// The set that a new one has to beat.
    fn bar(&self) -> Arc<Best> {
        let best = self.best.get();
        match self.ceiling {
            Some(ceiling) if ceiling <= best.cost => Arc::new(Best::bar(ceiling, &best)),
            _ => best,
        }
    }

    fn offer_made(&self, node: &Node<N>) {
        let (cost, n_lost) = node.cost(self.ground);
        debug_assert!(cost >= node.floor, "K2");
        if n_lost <= self.ground.problem.limit && !self.best.get().beats(cost, node.n_cuts) {
            self.offer(cost, n_lost, self.ground.space.cuts(&node.made));
        }
    }

    fn offer(&self, cost: u64, n_lost: u64, cuts: incrowd_data::Cuts) {
        let best = Best::new(cost, cuts);
        if best.is_better_than(&self.best.get()) && self.ground.is_feasible(&best.cuts, n_lost) {
            self.best.offer(best);
        }
    }
}
