package urn

// A SchemeTemplate is the registration of a URI scheme. It has the fields that the registry of
// schemes requires (draft of 2012, section 9.1).
type SchemeTemplate struct {
	Name             string `json:"name"`
	Status           string `json:"status"`
	Syntax           string `json:"syntax"`
	Semantics        string `json:"semantics"`
	Encoding         string `json:"encoding"`
	Applications     string `json:"applications"`
	Interoperability string `json:"interoperability"`
	Security         string `json:"security"`
	Contact          string `json:"contact"`
	ChangeController string `json:"change_controller"`
	References       string `json:"references"`
}

// Scheme returns the registration of the scheme "urn".
func Scheme() SchemeTemplate {
	return SchemeTemplate{
		Name:             "urn",
		Status:           "permanent",
		Syntax:           "RFC 8141, section 2",
		Semantics:        "persistent names, each assigned once within the namespace of its NID; RFC 8141, sections 1 and 5",
		Encoding:         "ASCII; other characters are UTF-8 in percent-encoding; RFC 8141, section 2.2",
		Applications:     "libraries, publishers, standards and protocols that name resources permanently",
		Interoperability: "names are compared without resolving them; RFC 8141, section 3",
		Security:         "RFC 8141, section 8, RFC 3986, section 7, and the considerations of each namespace",
		Contact:          "the IESG",
		ChangeController: "IESG",
		References:       "RFC 8141; earlier RFC 2141",
	}
}
