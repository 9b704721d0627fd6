package namespace

import "github.com/nomen-project/nomen/urn"

// A statement is what the documents of a namespace state about its special
// characters, functional equivalence, services and keywords
// (draft-ietf-urnbis-rfc2141bis-urn-03, 2.3, 2.5.2 and 6).
type statement struct {
	special    string           // see [Namespace.Delimiters]
	functional string           // see [Namespace.Functional]
	services   []string         // designators; see statements
	byDefault  string           // the default service
	keywords   []urn.KeywordUse // query keywords, and parameters of r- and q-components
	stated     string           // the documents and sections read; "" if none was available
}

// with returns n with the statements of its documents.
func (s statement) with(n Namespace) Namespace {
	n.Delimiters, n.Functional = s.special, s.functional
	n.Services, n.DefaultService, n.Keywords = s.services, s.byDefault, s.keywords
	n.Stated = s.stated
	return n
}

// statements has a row for every NID of the standard catalogue. The documents in
// stated do not say what a row leaves out. If stated is empty, the row has what
// is known from elsewhere. A service that a document describes without its
// designator, such as from URN to URL or to metadata, is listed under the
// designator of RFC 2483. None of the documents read defines a query keyword or a
// parameter of an r- or q-component. The table is never modified.
var statements = map[string]statement{
	"3gpp": {stated: "RFC 5279, 2"},
	"3gpp2": {
		special:    ":",
		functional: "a MEID and an IMEI are separate identifiers and are never equivalent",
		stated:     "RFC 8464, 3; urn-formal/3gpp2, Syntax, Interoperability and Resolution",
	},
	"adid": {stated: "RFC 8107, 2"},
	"aich": {},
	"alert": {
		special:    ":@",
		functional: "without its last part, a name means a more general alert",
		stated:     "RFC 7462, 7",
	},
	"bbf":                 {stated: "RFC 8057, 2"},
	"bitprint":            {special: "."},
	"broadband-forum-org": {stated: "RFC 8057, 3"},
	"btih":                {},
	"c2pa": {
		special:    ":_",
		functional: "a UUID URN can be turned into a c2pa name without loss",
		stated:     "urn-formal/c2pa, Syntax, Interoperability and Resolution",
	},
	"cablelabs": {special: ":", stated: "RFC 6289, 2"},
	"ccsds":     {special: ":", stated: "RFC 7738, 3"},
	"cdx": {
		special:    "/",
		functional: "names that differ only in the version mean revisions of one bill of materials; the UUID URN of the serial number does not say which revision",
		stated:     "urn-formal/cdx, Syntax and Interoperability",
	},
	"cgi":  {special: ":", stated: "RFC 5138, 2"},
	"clei": {stated: "RFC 4152, 2"},
	"csa":  {stated: "urn-formal/csa, Syntax and Resolution"},
	"cta":  {stated: "urn-formal/cta, Syntax and Resolution"},
	"cts":  {special: ":.-@", functional: "a name without a version means the work in any version"},
	"ddi":  {},
	"dev": {
		special:    ":-_",
		functional: "a device can have several names, one for each of its technologies; a MAC address in upper case and one in lower case are the same device",
		stated:     "RFC 9039, 3; urn-formal/dev, Syntax, Assignment and Resolution",
	},
	"dgiwg": {special: ":", stated: "RFC 6288, 2"},
	"dns": {
		special:    ":",
		functional: "equal elements under different authorities are different names",
		services:   []string{"I2C", "I2L"}, byDefault: "I2C",
		stated: "draft-ietf-uri-yaurn-00, 2 and 3",
	},
	"doi": {
		special:    "/",
		functional: "urn:eidr names are DOI names too, with a colon for the slash; so are doi: and https://doi.org/ with the same prefix and suffix",
		services:   []string{"I2L"}, byDefault: "I2L",
		stated: "urn-formal/doi, Syntax, Interoperability and Resolution",
	},
	"dslforum-org": {stated: "RFC 8057, 4"},
	"dvb":          {stated: "RFC 5328, 2; RFC 7354, 2"},
	"ebu":          {special: ":", stated: "RFC 5174, 2"},
	"ed2k":         {},
	"eic":          {stated: "urn-formal/eic, Syntax and Resolution"},
	"eidr": {
		special:    ":",
		functional: "urn:doi with a slash for the colon is the same DOI name",
		services:   []string{"I2C"},
		stated:     "RFC 7972, 1 and 2",
	},
	"epc": {
		special:    ":.",
		functional: "a name and the GS1 key that it is made of mean the same object or class",
		stated:     "RFC 5134, 2",
	},
	"epcglobal":  {special: ":", stated: "RFC 5134, 3"},
	"etsi":       {stated: "urn-formal/etsi, Syntax and Resolution"},
	"eurosystem": {stated: "RFC 7207, 4"},
	"example":    {stated: "RFC 6963, 3"},
	"fdc": {
		special:    ":",
		functional: "a date without month or day stands for the first one, but the spellings are different names",
		stated:     "RFC 4198, 3",
	},
	"fipa": {special: ":", stated: "RFC 3616, 2"},
	"gdr":  {special: ":", stated: "urn-formal/gdr, Syntax and Resolution"},
	"gdst": {special: ":.", stated: "urn-formal/gdst, Syntax and Resolution"},
	"geant": {
		special:    ":",
		functional: "a resource can have an XML.org name too",
		stated:     "RFC 4926, 2 and 4",
	},
	"globus": {special: ":", stated: "RFC 7853, 2"},
	"gs1": {
		special:    ":",
		functional: "a name never means the same as a urn:epc name or a GS1 Digital Link by itself",
		stated:     "urn-formal/gs1, Syntax, Interoperability and Resolution",
	},
	"gsma": {
		special:    ":;=",
		functional: "names of one device can differ in the software version (svn)",
		stated:     "RFC 7254, 3",
	},
	"gvat":  {special: "/", stated: "urn-formal/gvat, Syntax and Resolution"},
	"hbbtv": {stated: "RFC 7528, 2"},
	"iec":   {special: ":"},
	"ieee":  {special: ":", stated: "RFC 8069, 2"},
	"ietf": {
		special:    ":",
		functional: "a std or bcp means whatever RFCs it consists of today; it is not equivalent to them",
		services:   []string{"I2C", "I2L", "I2Ls", "I2Ns", "I2R", "I2Rs"},
		stated:     "RFC 2648, 2 and appendix A",
	},
	"iptc": {
		special:    ":",
		functional: "the version current stands for the current version of a standard",
		stated:     "RFC 3937, 2",
	},
	"isan": {
		functional: "a number without a version covers the work in all its versions; they are not equivalent to it",
		stated:     "RFC 4246, 2 and 3",
	},
	"isbn": {
		functional: "a corrected number and the wrong one printed in the book mean the same product, but can resolve differently",
		stated:     "urn-formal/isbn, Syntax, Interoperability and Resolution",
	},
	"ismn": {},
	"isni": {
		functional: "numbers found to mean one identity are merged in the register; the retired one stays an alias there",
		stated:     "urn-formal/isni, Syntax, Interoperability and Resolution",
	},
	"iso": {
		special:    ":",
		functional: "a name without an edition means the latest one; no language means English",
		stated:     "RFC 5141, 2.4, 2.8 and 2.9",
	},
	"issn": {
		functional: "the ISSN of the media of one serial share an ISSN-L and resolve alike; only the register knows it",
		services:   []string{"I2L", "I2Ls", "I2C", "I2Cs"},
		stated:     "urn-formal/issn, Syntax and Resolution",
	},
	"itu":  {special: ":", stated: "urn-formal/itu, Syntax and Resolution"},
	"ivis": {special: ":", stated: "RFC 4617, 2"},
	"knx":  {stated: "urn-formal/knx, Syntax and Resolution"},
	"lei":  {stated: "urn-formal/lei, Syntax and Resolution"},
	"lex": {
		special:    ":;,@$+~!",
		functional: "a name without an expression means the act in all its versions and languages",
		services:   []string{"I2L"},
		stated:     "urn-formal/lex, Syntax and Resolution",
	},
	"liberty": {special: ":", stated: "RFC 3622, 2"},
	"mace": {
		special:    ":",
		functional: "a resource can have an XML.org name too",
		stated:     "RFC 3613, 2 and 4",
	},
	"md5": {stated: "RFC 1321, which does not mention URNs"},
	"mef": {stated: "RFC 7818, 2"},
	"meta": {
		special:    ":-",
		functional: "translations of a format use the names of the original; national variants have names of their own",
		services:   []string{"I2L"},
		stated:     "urn-formal/meta, Syntax and Resolution",
	},
	"mpeg": {special: ":", stated: "RFC 3614, 2"},
	"mrn": {
		special:    ":",
		functional: "a ship can have a name by IMO number and one by MMSI",
		stated:     "urn-formal/mrn, Syntax and Resolution",
	},
	"nan": {
		special:    ":-",
		functional: "a resource can have a name in another namespace too",
		stated:     "urn-formal/nan, Syntax, Interoperability and Resolution",
	},
	"nato": {special: ":", stated: "RFC 7467, 2"},
	"nbn": {
		special:    ":-",
		functional: "a resource can have a standard identifier, such as an ISBN, too",
		stated:     "RFC 8458, 4 and 5",
	},
	"nena": {special: ":", stated: "RFC 6061, 2"},
	"newsml": {
		special:    ":",
		functional: "names that differ only in the revision mean revisions of one news item; the higher number is the later one",
		stated:     "RFC 3085, 2",
	},
	"nfc":      {special: ":", stated: "RFC 4729, 2"},
	"nfi":      {special: ":", stated: "urn-formal/nfi, Syntax and Resolution"},
	"nir":      {special: ":;,@~!", functional: "a name without a date of validity means the act in all its versions"},
	"nzl":      {special: ":", stated: "RFC 4350, 2"},
	"oasis":    {special: ":", stated: "RFC 3121, 2"},
	"ogc":      {special: ":", stated: "RFC 5165, 2"},
	"ogf":      {special: ":", stated: "RFC 6453, 2"},
	"oid":      {special: ".", stated: "RFC 3061, 2"},
	"oipf":     {stated: "RFC 6893, 2"},
	"oma":      {special: ":", stated: "RFC 4358, 2"},
	"onem2m":   {stated: "urn-formal/onem2m, Syntax and Resolution"},
	"onf":      {stated: "urn-formal/onf, Syntax and Resolution"},
	"pin":      {stated: "RFC 3043, 2"},
	"pno":      {special: ":", stated: "urn-formal/pno, Syntax and Resolution"},
	"publicid": {special: ":+;", stated: "RFC 3151, 2"},
	"pwid": {
		special:    ":",
		functional: "for one address and time, page means what the archive shows and part the single file",
		stated:     "urn-formal/pwid, Syntax and Resolution",
	},
	"reso": {
		special:    ":",
		functional: "an element of the data dictionary can have a name for each version and one without a version",
		stated:     "urn-formal/reso, 3",
	},
	"s1000d": {special: "-_", stated: "RFC 4688, 2"},
	"said":   {stated: "urn-formal/said, Syntax and Resolution"},
	"schac":  {special: ":", stated: "RFC 6338, 3"},
	"service": {
		special:    ".",
		functional: "without its last part, a name means a more general service",
		stated:     "RFC 5031, 3",
	},
	"sha1":     {},
	"sha256":   {},
	"smpte":    {special: ":.", stated: "RFC 5119, 2"},
	"stalwart": {special: ":", stated: "urn-formal/stalwart, Syntax and Resolution"},
	"swift":    {stated: "RFC 3615, 2"},
	"thread":   {special: ":", stated: "urn-formal/thread, Syntax and Resolution"},
	"tree":     {special: ":"},
	"trivore":  {special: ":", stated: "urn-formal/trivore, Syntax and Resolution"},
	"tva":      {special: ":", stated: "RFC 4195, 2"},
	"uci":      {special: ":-+", stated: "RFC 4179, 2"},
	"ucode":    {stated: "RFC 6588, 2"},
	"uic":      {special: ":", stated: "urn-formal/uic, Syntax and Resolution"},
	"urn-1":    {stated: "urn-informal/urn-1, declaration to resolution"},
	"urn-2":    {special: ":", stated: "urn-informal/urn-2, declaration to resolution"},
	"urn-3": {
		special:  ":.",
		services: []string{"I2L", "I2Ls"}, byDefault: "I2L",
		stated: "urn-informal/urn-3, declaration to resolution",
	},
	"urn-4": {special: ".", stated: "urn-informal/urn-4, declaration to resolution"},
	"urn-5": {special: ":", stated: "urn-informal/urn-5, declaration to resolution"},
	"urn-6": {
		special:    ":",
		functional: "names of one place or user in two languages can mean the same, but need not",
		stated:     "urn-informal/urn-6, declaration to resolution",
	},
	"urn-7": {
		special:    ".",
		functional: "without its last part, a name means a more general service",
		stated:     "urn-informal/urn-7, declaration to resolution",
	},
	"urn-8":  {stated: "urn-informal/urn-8, Syntax and Resolution"},
	"uuid":   {},
	"web3d":  {special: ":", stated: "RFC 3541, 2"},
	"wfa":    {stated: "urn-formal/wfa, Syntax and Resolution"},
	"wmo":    {special: ":", stated: "urn-formal/wmo, Syntax and Resolution"},
	"xmlorg": {special: ":", stated: "RFC 3120, 2"},
	"xmpp":   {special: ":", stated: "RFC 4854, 2"},
}
