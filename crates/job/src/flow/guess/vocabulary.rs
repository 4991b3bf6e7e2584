//! Words in the names of columns: English, German, French, Spanish, Italian, Dutch, Portuguese and
//! Polish, in lower case and without diacritics. Umlauts stand as `a` and as `ae`.
//!
//! A word that is missing here makes a column quasi, which is safe. A word too many costs a column
//! that a person has to bring back.

/// Whether a list has a word.
pub(crate) fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Who a row can be about, whole or cut short, in the cases that stand beside a number.
pub(crate) const PERSON: &str = "\
    patient patients pat pt person persons pers people individual user usr member mbr subject subj \
    participant respondent customer cust client cli employee emp staff worker personnel student stud \
    pupil citizen resident tenant insured policyholder beneficiary claimant applicant donor voter \
    taxpayer subscriber guest passenger player enrollee recipient borrower household inmate \
    prisoner defendant victim candidate human visitor buyer holder cardholder owner consumer \
    patienten person personen kunde kunden kd nutzer nutzers benutzer benutzers mitglied mitglieds \
    proband probanden teilnehmer mitarbeiter ma angestellter angestellten beschaeftigter \
    beschaftigter schueler schuler studierender studenten matrikel buerger burger versicherter \
    versicherten versicherungsnehmer antragsteller bewohner mieter haushalt haushalts klient \
    klienten einwohner personal \
    personne individu usager utilisateur assure salarie employe eleve etudiant citoyen adherent \
    membre participante abonne beneficiaire locataire menage sujet contribuable allocataire \
    paciente pac persona personas usuario cliente asegurado empleado trabajador alumno estudiante \
    ciudadano afiliado miembro participante abonado inquilino hogar sujeto contribuyente socio \
    paziente paz utente assistito assicurato dipendente lavoratore studente alunno cittadino iscritto \
    membro partecipante abbonato soggetto contribuente famiglia individuo \
    persoon klant gebruiker lid deelnemer medewerker werknemer leerling burger verzekerde \
    verzekerden bewoner huurder huishouden proefpersoon lidmaatschap \
    pessoa usuario cliente segurado funcionario empregado trabalhador aluno estudante cidadao \
    associado membro assinante titular beneficiario \
    pacjent pacjenta osoba osoby uzytkownik uzytkownika klient klienta czlonek czlonka uczestnik \
    uczestnika pracownik pracownika uczen ucznia student studenta obywatel obywatela ubezpieczony \
    ubezpieczonego abonent abonenta respondenta badanego mieszkanca";

/// What belongs to one person: papers, cases, contracts, things that are carried along.
pub(crate) const DOCUMENT: &str = "\
    case record mr encounter visit episode stay admission chart file folder policy contract invoice \
    receipt order ticket booking reservation membership badge card licence license passport \
    insurance social security ssn national health medical medicare medicaid nhs tax fiscal \
    payroll registration enrollment enrolment registry sample specimen accession barcode claim loan \
    prescription transaction payment device session cookie account acct vehicle plate phone mobile \
    document identity screening application complaint incident report shipment parcel \
    delivery subscription handset sim meter property study studie studien trial \
    fall akte akten vorgang vorgangs rechnung rechnungs vertrag vertrags police policen \
    auftrag auftrags bestell bestellung beleg ausweis pass reisepass steuer sozialversicherung \
    sozialversicherungs rentenversicherung rentenversicherungs versicherung versicherungs \
    krankenkasse krankenkassen krankenversicherung krankenversicherungs karte karten konto kunden \
    geraet gerat sitzung antrag antrags probe proben aufenthalt aufenthalts besuch besuchs \
    mitgliedschaft fahrzeug kennzeichen kfz fuehrerschein fuhrerschein stamm bewerber \
    dossier sejour visite hospitalisation contrat facture commande carte permis passeport assurance \
    securite secu sociale secusociale nir compte vehicule immatriculation appareil echantillon \
    prelevement impot impots cotisant demande reclamation \
    expediente historia clinica episodio visita poliza contrato factura pedido tarjeta carnet \
    licencia pasaporte seguro seguridad social cuenta vehiculo matricula dispositivo muestra \
    documento identidad solicitud prestamo ingreso \
    cartella clinica ricovero polizza contratto fattura ordine tessera patente passaporto \
    assicurazione sanitaria sanitario conto veicolo targa dispositivo campione documento identita \
    pratica fiscale prestito \
    dossier opname bezoek polis contract factuur bestelling kaart rijbewijs paspoort verzekering \
    verzekerings zorgverzekering burgerservice rekening voertuig kenteken apparaat monster \
    rijksregister aanvraag lening relatie \
    processo prontuario consulta internamento apolice contrato fatura encomenda pedido cartao carta \
    passaporte seguro seguranca social conta veiculo dispositivo amostra documento identificacao \
    contribuinte utente beneficio emprestimo \
    sprawa sprawy wizyta wizyty pobyt pobytu polisa polisy umowa umowy faktura faktury zamowienie \
    zamowienia karta karty legitymacja legitymacji paszport paszportu dowod dowodu ubezpieczenie \
    ubezpieczenia konto konta pojazd pojazdu rejestracyjny urzadzenia probki dokument dokumentu \
    historia choroby kartoteka kartoteki wniosku kredytu";

/// Classifications and things that many people share: their codes and numbers are nobody's.
pub(crate) const THING: &str = "\
    zip postal post postcode country nation region area state province county city town district \
    municipality commune ward department dept unit station room bed floor building block tract \
    fips insee ags nuts lsoa site centre center clinic physician doctor nurse provider practitioner \
    facility hospital hospitals survey questionnaire store shop branch bank organisation organization org company employer school \
    university course class grade group cluster arm cohort batch lot product item article sku \
    material category cat type kind status stage level currency language lang locale color colour \
    size error response reason method mode model make brand version channel campaign plan tariff \
    rate service team project task activity event drg icd atc snomed loinc cpt ops hcpcs ndc naics \
    sic isco soc isic sex gender race ethnicity education occupation job industry religion marital \
    age year month week day hour time date quarter sequence seq line row page question variable \
    field axis shift wave round phase dose drug diagnosis procedure exam test lab \
    plz post ort orts land laender bundesland kreis gemeinde stadt bezirk station stations \
    abteilung abteilungs kostenstelle kostenstellen zimmer bett haus klinik klinik arzt artikel \
    produkt waren warengruppe gruppe gruppen klasse klassen kategorie art typ stufe waehrung \
    wahrung sprache filiale filial firma schule schul diagnose diagnosen leistung leistungs tarif \
    branche berufs beruf staat staats geschlecht alters seite zeile lfd laufende spalte \
    pays departement region ville service lit chambre etablissement medecin ecole produit article \
    groupe classe categorie acte langue devise sexe metier postal \
    pais provincia ciudad municipio departamento planta habitacion cama centro medico escuela \
    producto articulo grupo clase categoria idioma moneda sexo profesion postal \
    paese provincia comune citta regione reparto stanza letto struttura medico scuola prodotto \
    articolo gruppo classe categoria lingua valuta sesso professione postale cap istat \
    gemeente plaats stad provincie afdeling kamer bed ziekenhuis arts school product artikel groep \
    klas categorie taal valuta geslacht beroep \
    cidade concelho distrito freguesia servico quarto cama hospital medico escola produto artigo \
    grupo classe moeda sexo profissao postal \
    kraj kraju miasto miasta gmina gminy powiat powiatu wojewodztwo wojewodztwa oddzial oddzialu \
    pokoj lozko szpital lekarz lekarza szkola produkt produktu towar towaru grupa grupy klasa klasy \
    kategoria kategorii jezyka waluty plci zawodu pocztowy";

/// Numbers that a state, an insurer or a maker gives to one person or one thing that a person
/// carries: no further word is needed.
pub(crate) const OFFICIAL: &str = "\
    socialsecurity nationalinsurance securitesociale seguridadsocial segurancasocial \
    sozialversicherungs rentenversicherungs codicefiscale fiscalcode \
    ssn ssan itin mrn hicn mbi nhsno nhsnumber nino guid uuid uid userid patid patientid pid custid \
    empid memberid subjectid personid studentid fiscalcode taxid taxnumber imei imsi msisdn iccid \
    macaddress mac vin licenseplate numberplate deviceid sessionid cookieid pseudonym pseudoid \
    mrno mrnr mrnumber emrno emrn empi uhid rrn regno regnr regnumber admno rollno accno acctno \
    custno memno empno chartno fileno hospno hospnr hospnumber opno ipno \
    subjid usubjid pseudonymid pseudo pseudonymised pseudonymized anonid anonymousid sid passport passportno rowid hospitalno hospitalnumber hospitalnr \
    svnr sozialversicherungsnummer rvnr kvnr steuerid steuernummer idnr ahv ahvnr avs avsnr noavs \
    versichertennummer krankenversichertennummer versnr matrikelnummer matrikelnr personalnummer \
    persnr personalnr pnr patnr patientennr kdnr kundennr kundennummer personalausweis \
    personalausweisnummer reisepass aktenzeichen mitgliedsnr autokennzeichen \
    codcli idcli numcli nocli idpat numpat \
    nss secu numsecu nsecu insee13 matricule passeport immatriculation identifiant ipp iep nda \
    codpac idpac numpac nropac codpaz idpaz codusu idusu codute \
    dni nif nie cuit cuil curp cedula pasaporte nhc nuhsa cip naf expediente historiaclinica \
    codicefiscale codfiscale codfisc tesserasanitaria cartellaclinica matricola passaporto targa \
    bsn burgerservicenummer insz niss rijksregisternummer paspoort kenteken klantnr \
    personeelsnummer polisnummer \
    cpf cnpj prontuario processoclinico niss pasep matricula passaporte \
    pesel paszport legitymacja regon nip";

/// The same, but short enough to mean something else: the values decide.
pub(crate) const OFFICIAL_PERHAPS: &str =
    "cf nir sus cns rg ci hc rut rfc nis pis nit tin sin nin npi hcn vat az akz";

/// Words that say that a column identifies.
pub(crate) const ID: &str = "\
    id ids ident identifier identification identifikation identifikator kennung uid key pk sk fk \
    schluessel schlussel identifiant identificador identificativo identificazione identyfikator \
    klucz sleutel chave clave chiave cle pseudonym hash token fingerprint";

/// Words for a number, of a person or of anything.
pub(crate) const NUMBER: &str = "\
    number no nr num nbr nummer numero numer nro nmr ref reference referenz referencia \
    riferimento kenmerk kennzeichen kennziffer zeichen matricule matricola matricula";

/// Words for a code.
pub(crate) const CODE: &str = "code codes cod codice codici codigo kod kode kody cd";

/// Words that make a number a count.
pub(crate) const COUNT: &str = "\
    count counts cnt qty quantity amount sum total mean avg average median min max anzahl menge \
    summe zahl nb aantal hoeveelheid som liczba ilosc suma quantita quantidade cantidad conteggio \
    somme quantite effectif";

/// Words that stand between a number and what it numbers.
pub(crate) const OF: &str = "of de del della dello di da do dos das du des d l la le les el los der die das des van voor the a";

/// Things that are counted, beside plurals with an s.
pub(crate) const COUNTED: &str = "\
    children siblings people kinder geschwister besuche tage wochen monate jahre stunden aufenthalte \
    figli fratelli visite giorni mesi anni ore ricoveri kinderen bezoeken dagen weken maanden jaren \
    uren dzieci wizyt dni miesiecy lat godzin pobytow osob pieces minutes";

/// Words that say that a column is about a number or an account, not the number itself.
pub(crate) const ABOUT: &str = "\
    type typ tipo kind status state stand flag valid validity verified present missing known date \
    datum time balance model brand category format length version opened closed active country \
    saldo fecha data typ rodzaj stato estado etat anzahl count provider quality class";

/// Measures and times: no number of a person whatever the values look like.
pub(crate) const QUANTITY: &str = "\
    price cost costs charge charges amount amt bill total sum revenue fee value volume weight height width \
    length distance speed rate ratio percent percentage share days hours minutes seconds duration \
    time timestamp ts epoch temperature pressure pulse dose dosage concentration level score index \
    points steps calories energy power units population census sales budget turnover balance \
    capital gain loss hours epoch kosten preis betrag summe gewicht groesse grosse laenge lange \
    dauer tage stunden minuten temperatur druck puls wert menge umsatz zeit punkte \
    prix cout montant somme poids taille longueur duree jours heures valeur temps \
    precio coste importe suma peso altura longitud duracion dias horas valor tiempo \
    prezzo costo importo somma altezza lunghezza durata giorni ore valore tempo \
    prijs bedrag gewicht lengte duur dagen uren waarde tijd \
    preco custo montante comprimento duracao \
    cena koszt kwota waga wzrost dlugosc czas dni godziny wartosc";

/// Words for what names a person or leads to one.
pub(crate) const IDENTIFIER: &str = "\
    account acct address addr email fax firstname forename fullname givenname guid iban bic swift \
    imei ip ipaddress lastname login mail maiden middlename mobile mrn nhs nin nino nickname \
    passport phone cellphone photo plate signature ssn street surname telephone tel twitter \
    facebook instagram linkedin url username uuid vin website homepage housenumber \
    anschrift adresse adr strasse str hausnummer hausnr vorname nachname familienname zuname \
    geburtsname rufname maedchenname madchenname benutzername telefon telefonnummer tel handy \
    handynummer mobilnummer mobiltelefon festnetz fax emailadresse kontonummer konto \
    kontoinhaber unterschrift webseite passwort \
    rue courriel prenom prenoms nomdefamille nomnaissance nomusage patronyme telephone \
    portable numerotelephone motdepasse titulaire \
    direccion domicilio calle correo correoelectronico nombrecompleto nombreyapellidos apellido \
    apellidos primerapellido segundoapellido telefono movil celular cuentabancaria \
    indirizzo recapito nominativo cognome cognomenome cellulare telefonico contocorrente \
    adres straat huisnummer voornaam voornamen achternaam familienaam tussenvoegsel meisjesnaam \
    gebruikersnaam telefoon telefoonnummer mobiel emailadres rekeningnummer handtekening \
    endereco morada rua sobrenome apelido nomecompleto telefone telemovel celular contabancaria \
    assinatura \
    adresu ulica ulicy imie imiona nazwisko nazwiska imieinazwisko telefonu komorkowy komorka \
    numertelefonu nrtelefonu nrdomu loginu";

/// Of the words above, those for what only one person has.
pub(crate) const OWN: &str = "\
    account acct email fax iban imei login mail mobile mrn nhs nin nino passport phone cellphone \
    plate ssn telephone tel twitter facebook instagram linkedin username uuid guid vin \
    benutzername telefon telefonnummer handy handynummer mobilnummer mobiltelefon festnetz \
    emailadresse kontonummer konto courriel portable numerotelephone correo correoelectronico \
    telefono movil celular cuentabancaria cellulare contocorrente gebruikersnaam telefoon \
    telefoonnummer mobiel emailadres rekeningnummer telefone telemovel contabancaria telefonu \
    komorkowy komorka numertelefonu nrtelefonu loginu";

/// A name, of whatever.
pub(crate) const NAME: &str = "name names nom nome naam nominativo";

/// Text that may hold anything, if it is text.
pub(crate) const REMARK: &str = "\
    comment comments remark remarks note notes freetext narrative feedback message description \
    bemerkung bemerkungen kommentar notiz notizen anmerkung anmerkungen freitext hinweis \
    beschreibung nachricht anamnese arztbrief \
    commentaire commentaires remarque remarques observation observations texte libre \
    comentario comentarios observacion observaciones notas mensaje anotaciones \
    commento commenti osservazione osservazioni nota annotazioni messaggio \
    opmerking opmerkingen toelichting notitie notities bericht omschrijving \
    observacao observacoes mensagem anotacoes \
    uwaga uwagi komentarz komentarze opis notatka notatki wiadomosc";

pub(crate) const QUASI: &str = "\
    admission admitted age ancestry birth birthdate birthday birthplace born children citizenship \
    city country county date death degree dependents discharge district dob education employer \
    employment ethnic ethnicity family gender height household industry job language location \
    marital married municipality nationality occupation origin parish postal postcode profession \
    postnr postnummer postcd npa cp province race region relationship school sex spouse state suburb town vehicle veteran weight \
    workclass year zip zipcode \
    alter lebensalter altersgruppe alterklasse altersklasse jahrgang geburt geburts geburtsdatum \
    geburtsjahr geburtsort geburtstag geboren geschlecht plz postleitzahl ort wohnort stadt gemeinde \
    land bundesland landkreis kreis nationalitaet nationalitat staatsangehoerigkeit \
    staatsangehorigkeit herkunft familienstand zivilstand beruf bildung schulabschluss abschluss \
    arbeitgeber branche kinder kinderzahl sprache aufnahme aufnahmedatum entlassung \
    entlassungsdatum groesse koerpergroesse koerpergewicht gewicht datum sterbedatum todesdatum \
    agepatient naissance naiss datenaissance anneenaissance lieunaissance sexe genre codepostal \
    ville commune departement pays nationalite etatcivil situationfamiliale metier profession \
    diplome niveauetudes enfants langue dateentree datesortie taille poids deces annee \
    edad nacimiento fechanacimiento fnac sexo genero codigopostal ciudad municipio provincia pais \
    nacionalidad estadocivil profesion ocupacion educacion estudios niveleducativo hijos idioma \
    fechaingreso fechaalta altura peso fecha defuncion ano \
    eta nascita datanascita annonascita luogonascita sesso genere cap codicepostale citta comune \
    regione paese nazionalita cittadinanza statocivile professione istruzione titolodistudio figli \
    lingua ricovero dimissione altezza decesso anno \
    leeftijd geboorte geboortedatum geboortejaar geboorteplaats geslacht woonplaats plaats gemeente \
    provincie nationaliteit burgerlijkestaat beroep opleiding kinderen taal opname opnamedatum \
    ontslag ontslagdatum lengte overlijden jaar \
    idade nascimento datanascimento anonascimento cep codigopostal cidade concelho distrito \
    freguesia estado nacionalidade naturalidade estadocivil profissao ocupacao escolaridade filhos \
    admissao alta altura obito \
    wiek urodzenia urodzony urodz dataurodzenia rokurodzenia plec kodpocztowy miasto miejscowosc \
    gmina powiat wojewodztwo kraj narodowosc obywatelstwo stancywilny zawod wyksztalcenie dzieci \
    jezyk przyjecia wypisu wzrost waga zgon rok";

pub(crate) const SENSITIVE: &str = "\
    abortion addiction aids alcohol arrest balance bankruptcy belief cancer condition conviction \
    credit crime criminal debt diagnosis disability disease drug earning faith genotype grade hiv \
    icd illness income loan medication medicine mental mortgage mutation offence offense \
    orientation outcome party political politics pregnancy pregnant prescription procedure religion \
    result salary saving score sexual smoker smoking symptom therapy treatment wage wealth \
    creatinine cholesterol glucose hba1c haemoglobin hemoglobin bmi \
    diagnose diagnosen hauptdiagnose nebendiagnose krankheit erkrankung befund ergebnis laborwert \
    kreatinin blutdruck medikament medikation behandlung therapie gehalt lohn einkommen verdienst \
    vermoegen vermogen schulden religion konfession partei behinderung schwangerschaft raucher \
    vorstrafe straftat \
    diagnostic maladie pathologie resultat traitement medicament salaire revenu revenus dette \
    religieux handicap grossesse \
    diagnostico enfermedad patologia resultado tratamiento medicamento salario sueldo ingresos \
    renta deuda discapacidad embarazo \
    diagnosi malattia patologia risultato esito trattamento farmaco stipendio reddito debito \
    religione disabilita gravidanza \
    ziekte aandoening uitslag medicatie behandeling loon salaris inkomen schuld geloof handicap \
    zwangerschap \
    doenca resultado tratamento rendimento renda divida religiao deficiencia gravidez \
    diagnoza rozpoznanie choroba wynik leczenie leki lek wynagrodzenie dochod zarobki pensja dlug \
    wyznanie niepelnosprawnosc ciaza";

pub(crate) const PLACE: &str = "coordinate lat latitude lng lon longitude easting northing breitengrad laengengrad latitud longitud";

/// Words in an address, as parts of a cell. Those of four letters and more may end a longer word.
pub(crate) const STREET: &str = "\
    street st road rd avenue ave lane ln drive dr court ct boulevard blvd square terrace \
    str strasse stra\u{df}e weg allee platz gasse ring damm ufer \
    rue av bd chemin impasse quai calle avda avenida plaza paseo carrer \
    via viale piazza corso vicolo largo straat laan plein gracht dreef kade \
    rua praca travessa estrada ulica ul aleja aleje al osiedle os plac";
