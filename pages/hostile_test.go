package pages

import (
	"html/template"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// hostileTexts are texts that strangers may enter, or that break a careless page.
func hostileTexts() []string {
	return []string{
		`<script>alert(1)</script>`,
		`"><img src=x onerror=alert(1)>`,
		`' autofocus onfocus='alert(1)`,
		"javascript:alert(1)",
		"JaVa\tScRiPt:alert(1)",
		"data:text/html,<script>alert(1)</script>",
		"https://example.org/\u202eexe.txt",
		"nul \x00 bell \a escape \x1b[31m",
		"</textarea></title></style><script>alert(1)</script>",
		"{{.}} {1} &lt;script&gt;",
		strings.Repeat("long ", 1700),
	}
}

// views returns an empty view of each template.
func views() map[string]view {
	return map[string]view{
		"dashboard": &dashboardView{}, "names": &namesView{}, "name": &nameView{}, "history": &historyView{}, "diff": &diffView{},
		"edit": &editView{draft: &draft{}}, "new": &newView{editView: editView{draft: &draft{}}}, "retire": &retireView{}, "delete": &deleteView{},
		"restore": &restoreView{}, "redact": &redactView{}, "error": &errorView{}, "kept": &keptView{}, "signin": &signInView{},
		"authorities": &authoritiesView{}, "authority": &authorityView{}, "authority-edit": &policyView{}, "authority-text": &policyView{},
		"authority-history": &authorityHistoryView{}, "authority-restore": &restoreAuthorityView{},
		"users": &usersView{}, "user-new": &newUserView{}, "user": &userView{}, "user-edit": &accountView{}, "user-disable": &accountView{},
		"user-redact": &accountView{}, "user-link": &linkView{}, "user-history": &userHistoryView{},
		"upload": &uploadView{}, "jobs": &jobsView{}, "job": &jobView{}, "relocate": &relocateView{}, "retire-many": &retireManyView{}, "merge": &mergeView{},
		"me": &meView{}, "tokens": &tokensView{}, "token-new": &newTokenView{}, "token-made": &madeView{}, "token-revoke": &revokeView{},
		"log": &logView{}, "mint": &mintView{}, "minted": &mintedView{}, "statistics": &statisticsView{}, "report": &reportView{}, "links": &linksView{}, "copies": &copiesView{}, "settings": &settingsView{}, "misses": &missesView{}, "alias": &aliasView{}, "proof": &proofView{},
	}
}

// TestTemplatesWithHostileData executes every template with every text in every field.
func TestTemplatesWithHostileData(t *testing.T) {
	s := newSite(t)
	files, err := htmlFiles.ReadDir("html")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, f := range files {
		if page := strings.TrimSuffix(f.Name(), ".html"); page != "layout" && page != "parts" {
			want = append(want, page)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(views())); !slices.Equal(got, want) {
		t.Fatalf("views of %q, templates %q", got, want)
	}
	for _, text := range hostileTexts() {
		for page, v := range views() {
			stuff(reflect.ValueOf(v).Elem(), text, 0)
			w := httptest.NewRecorder()
			c := s.pages.newRequest(w, httptest.NewRequest(http.MethodGet, Root, nil))
			c.session = &Session{Name: text}
			if c.show(http.StatusOK, page, v); w.Code != http.StatusOK {
				t.Fatalf("%s: %q: got %d", page, text, w.Code)
			}
			(&answer{w, t}).wantHarmless(page)
		}
	}
}

// stuff sets all texts in a value, and gives lists two elements.
func stuff(v reflect.Value, text string, depth int) {
	switch v.Type() {
	case reflect.TypeFor[name.Name]():
		v.Set(reflect.ValueOf(name.FromKey(text)))
		return
	case reflect.TypeFor[name.Prefix]():
		v.Set(reflect.ValueOf(name.PrefixFromKey(text)))
		return
	case reflect.TypeFor[template.HTML](): // our own drawings
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1e9, 0)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Pointer:
		if depth > 8 {
			return
		}
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		stuff(v.Elem(), text, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		stuff(v.Index(0), text, depth+1)
		stuff(v.Index(1), text, depth+1)
	case reflect.Map:
		if v.Type() != reflect.TypeFor[nomen.Metadata]() {
			return // of rules of authorities
		}
		v.Set(reflect.ValueOf(nomen.Metadata{text: {text, text}}))
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Type.Kind() == reflect.String && slices.Contains([]string{"Action", "SignIn", "First", "Next", "Style", "Find", "File", "Again", "Correct", "Made"}, f.Name): // our own URLs
				v.Field(i).SetString(Root)
			case f.IsExported() || f.Anonymous:
				stuff(v.Field(i), text, depth+1)
			}
		}
	}
}

// wantHarmless checks that a page has no script, no link that runs something, no style, and no
// control characters outside of the fields of forms.
func (a *answer) wantHarmless(page string) {
	a.t.Helper()
	for n := range a.root().Descendants() {
		switch {
		case n.Type == html.ElementNode && slices.Contains([]string{"script", "style", "img", "iframe", "object", "base"}, n.Data),
			n.Type == html.ElementNode && n.Data == "svg" && !isDrawing(n):
			a.t.Errorf("%s has the element %s", page, n.Data)
		case n.Type == html.TextNode && n.Parent.Data != "textarea" && strings.ContainsAny(n.Data, "\u202e\x00\a\x1b"):
			a.t.Errorf("%s shows %q", page, n.Data)
		}
		for _, at := range n.Attr {
			a.wantHarmlessAttribute(page, n, at)
		}
	}
}

func (a *answer) wantHarmlessAttribute(page string, n *html.Node, at html.Attribute) {
	a.t.Helper()
	switch at.Key {
	case "value", "id", "for", "name", "aria-describedby", "aria-labelledby": // cannot run anything
		return
	case "href", "action", "formaction":
		local := strings.HasPrefix(at.Val, "/") && !strings.HasPrefix(at.Val, "//") || strings.HasPrefix(at.Val, "./") || strings.HasPrefix(at.Val, "#")
		if !local && !strings.HasPrefix(at.Val, "https://") && (n.Data == "a" || n.Data == "link") {
			a.t.Errorf("%s links to %q", page, at.Val)
		}
		if !local && n.Data != "a" && n.Data != "link" {
			a.t.Errorf("%s sends a form to %q", page, at.Val)
		}
	}
	if strings.HasPrefix(at.Key, "on") || at.Key == "style" || strings.ContainsAny(at.Val, "\u202e\x00\a\x1b") {
		a.t.Errorf("%s has the attribute %s=%q", page, at.Key, at.Val)
	}
}

// What strangers have managed to store is harmless on every page of the name.
func TestStoredHostileData(t *testing.T) {
	s := newSite(t)
	const evil = "<script>alert(1)</script>\u202e"
	s.change(alb, evil, func(r *store.Record) {
		r.Metadata = nomen.Metadata{"title": {evil, "\"'>"}}
		r.SameAs = []string{"javascript:alert(1)"} // from before it was forbidden
		r.Locations = []nomen.Location{{URL: "javascript:alert(1)", Note: evil, Component: evil}, {URL: "https://example.org/ok", Lang: evil}}
	})
	for _, page := range []string{"", "/history", "/diff?a=1&b=2", "/edit", "/retire", "/restore?to=1", "/redact", "?at=" + "%3Cscript%3E", "?done=%3Cscript%3E"} {
		a := s.get(nameAt(alb) + page)
		a.wantHarmless(page)
		if page == "" {
			a.want(200, "<script>alert(1)</script>[U+202E]", "javascript:alert(1)", "https://example.org/ok")
		}
	}
	for _, path := range []string{"", "names?prefix=urn:dns:example.org", "names?q=%22%3E%3Cscript%3E%E2%80%AE", "names?q=javascript:alert(1)", "new?name=%22%3E%3Cscript%3E"} {
		s.get(path).wantHarmless(path)
	}
	form := s.editForm(alb)
	if form.Get("metadata-0-value") != evil || form.Get("location-0-url") != "javascript:alert(1)" {
		t.Errorf("the form has %q", form)
	}
	s.send(nameAt(alb)+"/edit", fill(form, "do", "save", "why", "x")).want(422, "javascript")
}

// isDrawing reports whether an element is a drawing of package chart or qrcode.
func isDrawing(svg *html.Node) bool {
	return attribute(svg, "class") == "qr" || svg.Parent.Data == "figure" && attribute(svg.Parent, "class") == "chart"
}
