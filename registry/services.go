package registry

// draft2012 is the document that established the registries of query parameters.
const draft2012 = "draft-ietf-urnbis-rfc2141bis-urn-03, "

// Services returns the registry of URN resolution service designators (draft of 2012, section
// 9.2.2).
func (r Registries) Services() Table {
	t := Table{
		Name: "services", Entry: "service", Title: "URN Resolution Service Designators", Reference: draft2012 + "9.2.2",
		Columns: []string{"name", "purpose", "status", "reference"},
	}
	for s := range r.services.All() {
		t.Entries = append(t.Entries, Entry{Name: s.Name, Value: s, Fields: []Field{
			field("name", s.Name),
			field("purpose", s.Purpose),
			field("status", s.Status.String()),
			field("policy", s.Status.Policy()),
			field("reference", s.Reference),
		}})
	}
	return t
}

// Keywords returns the registry of URN query keywords (draft of 2012, section 9.2.1).
func (r Registries) Keywords() Table {
	t := Table{
		Name: "keywords", Entry: "query keyword", Title: "URN Query Keywords", Reference: draft2012 + "9.2.1",
		Columns: []string{"keyword", "purpose", "scope", "reference"},
	}
	for k := range r.keywords.All() {
		supported := make([]string, len(k.SupportedBy))
		for i, s := range k.SupportedBy {
			supported[i] = s.NID + " (" + s.Reference + ")"
		}
		t.Entries = append(t.Entries, Entry{Name: k.Keyword, Value: k, Fields: []Field{
			field("keyword", k.Keyword),
			field("purpose", k.Purpose),
			field("scope", k.Scope.String()),
			field("policy", k.Scope.Policy()),
			field("change_controller", k.Scope.ChangeController()),
			field("reference", k.Reference),
			field("supported_by", supported...).orMissing("none registered"),
		}})
	}
	return t
}

// SchemeIDs returns the registry of SchemeIDs (draft of 1995, section 2.1).
func (r Registries) SchemeIDs() Table {
	t := Table{
		Name: "scheme-ids", Entry: "SchemeID", Title: "SchemeIDs", Reference: "draft-ietf-uri-yaurn-00, 2.1",
		Columns: []string{"scheme_id", "description", "reference"}, fold: true,
	}
	for s := range r.schemeIDs.All() {
		t.Entries = append(t.Entries, Entry{Name: s.ID, Value: s, Fields: []Field{
			field("scheme_id", s.ID),
			field("description", s.Description),
			field("reference", s.Reference),
		}})
	}
	return t
}
