package pages

type fieldView struct {
	ID        string // also the name of the field in the form
	Label     string
	Hint      string
	Value     string
	Fault     string // error in the value, or ""
	FaultLang string // language of Fault
	Kind      string // text, area, date, or search
}

// newFieldView returns the field with the given ID. The label and the hint are in the language of
// the page. The hint may be "".
func newFieldView(v view, kind, id, label, hint, value string) fieldView {
	return fieldView{ID: id, Label: label, Hint: hint, Value: value, Fault: v.top().Fault(id), FaultLang: v.top().LangOf(v.top().Fault(id)), Kind: kind}
}

// Described returns the value of the attribute aria-describedby.
func (f fieldView) Described() string {
	switch {
	case f.Fault != "" && f.Hint != "":
		return f.ID + "-hint " + f.ID + "-fault"
	case f.Fault != "":
		return f.ID + "-fault"
	case f.Hint != "":
		return f.ID + "-hint"
	}
	return ""
}
