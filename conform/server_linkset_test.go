package conform_test

import (
	"encoding/json"
	"slices"
	"strings"
)

// linkset returns a link set in both formats of RFC 9264.
func (s *little) linkset(q *incoming) *reply {
	target := map[string]any{"href": "http://www.names.example/2", "type": "text/html", "hreflang": []string{"en"}, "title*": []any{map[string]any{"value": "Größe", "language": "de"}}, "extra": []string{"x"}}
	license := map[string]any{"href": "http://license.example/"}
	context := map[string]any{"anchor": original(), "item": []any{target}, "license": []any{license}}
	whole := map[string]any{"linkset": []any{context}}
	first := `<http://www.names.example/2>; rel="item"; type="text/html"; anchor="` + original() + `"`
	second := `<http://license.example/>; rel="license"; anchor="` + original() + `"`
	switch {
	case s.wrong("RFC9264-4.2.1/sole"):
		whole["@context"] = map[string]any{}
	case s.wrong("RFC9264-4.2.2/anchor"):
		context["anchor"] = "/alb002"
	case s.wrong("RFC9264-4.2.2/arrays"):
		context["author"] = map[string]any{"href": "http://author.example/"}
	case s.wrong("RFC9264-4.2.3/href"):
		delete(license, "href")
		second = strings.Replace(second, "http://license.example/", "", 1)
	case s.wrong("RFC9264-4.2.3/absolute"):
		license["href"] = "/license"
		second = strings.Replace(second, "http://license.example/", "/license", 1)
	case s.wrong("RFC9264-4.2.4.1/hreflang"):
		target["hreflang"] = "en"
	case s.wrong("RFC9264-4.2.4.1/strings"):
		target["type"] = []string{"text/html"}
	case s.wrong("RFC9264-4.2.4.2/title"):
		target["title*"] = "UTF-8'de'Gr%C3%B6%C3%9Fe"
	case s.wrong("RFC9264-4.2.4.3/extensions"):
		target["extra"] = "x"
	case s.wrong("RFC9264-4.1/syntax"):
		second += "; title=\"Größe\""
	case s.wrong("RFC9264-4.1/anchor"):
		second = `<http://license.example/>; rel="license"`
	case s.wrong("RFC9264-4/same"):
		second += `, <http://author.example/>; rel="author"; anchor="` + original() + `"`
	}
	if q.get("Accept") == "application/linkset" {
		return text(200, "application/linkset", first+",\n"+second)
	}
	body, _ := json.Marshal(whole)
	if s.wrong("RFC9264-4.2/json") {
		body = []byte(strings.Replace(string(body), "Größe", "Gr\xf6\xdfe", 1))
	}
	return text(200, "application/linkset+json", string(body))
}

// signsOf returns the links of the landing page: relation, target, type.
func (s *little) signsOf() [][3]string {
	const meta, item = testBase + "/meta/" + known1, "http://www.names.example/2"
	signs := [][3]string{
		{"cite-as", original(), ""},
		{"describedby", meta, "application/ld+json"},
		{"item", item, "text/html"},
		{"type", "https://schema.org/AboutPage", ""},
		{"type", "https://schema.org/MusicAlbum", ""},
		{"author", "https://orcid.example/0", ""},
		{"license", "https://license.example/", ""},
	}
	switch {
	case s.wrong("FAIR-1/cite-as"):
		signs[0][1] = testAuthority + ":" + known1
	case s.wrong("FAIR-1/describedby"):
		signs = slices.Delete(signs, 1, 2)
	case s.wrong("FAIR-1/describedby-type"):
		signs[1][2] = ""
	case s.wrong("FAIR-1/item-type"):
		signs[2][2] = ""
	case s.wrong("FAIR-1/type"):
		signs = slices.Delete(signs, 3, 4)
	case s.wrong("FAIR-1/author"):
		signs[5][1] = "mailto:someone@names.example"
	case s.wrong("FAIR-1/license"):
		signs = append(signs, [3]string{"license", "https://other.example/", ""})
	}
	return signs
}

// landing returns the page about the name.
func (s *little) landing() *reply {
	linkset := `<` + testBase + `/signs>; rel="linkset"; type="application/linkset+json"`
	if s.wrong("FAIR-2/linkset") {
		linkset = `<` + testBase + `/signs>; rel="linkset"`
	}
	links := []string{linkset}
	for _, l := range s.signsOf() {
		value := "<" + l[1] + `>; rel="` + l[0] + `"`
		if l[2] != "" {
			value += `; type="` + l[2] + `"`
		}
		links = append(links, value)
	}
	r := text(200, "text/html", "<!DOCTYPE html>\n<title>An album</title>\n").field("Link", strings.Join(links, ", "))
	if !s.wrong("RFC9110-12.5.5/vary") {
		r.field("Vary", "Accept")
	}
	return r
}

// signs returns the link set of the landing page.
func (s *little) signs() *reply {
	page := map[string]any{"anchor": original()}
	if s.wrong("FAIR-2/anchor") {
		page["anchor"] = testAuthority + ":" + known1
	}
	contexts := []any{page}
	add := func(relation, target string) {
		list, _ := page[relation].([]any)
		page[relation] = append(list, map[string]any{"href": target})
	}
	for _, l := range s.signsOf() {
		if l[0] != "author" || !s.wrong("FAIR-2/relations") {
			add(l[0], l[1])
		}
		back := map[string]string{"item": "collection", "describedby": "describes"}[l[0]]
		if back != "" && !s.wrong("FAIR-2/"+back) {
			contexts = append(contexts, map[string]any{"anchor": l[1], back: []any{map[string]any{"href": original()}}})
		}
	}
	body, _ := json.Marshal(map[string]any{"linkset": contexts})
	return text(200, "application/linkset+json", string(body))
}
