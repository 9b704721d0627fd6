package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The grammar of link sets, written from the documents and not from the code: RFC 8288, 3; RFC
// 8187, 3.2.1; RFC 5646, 2.1; RFC 6838, 4.2; RFC 9110, 5.6.
const (
	abnfToken  = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
	abnfQuoted = `"(?:[\t !#-\[\]-~]|\\[\t -~])*"`
	abnfOWS    = `[ \t\r\n]*`
	abnfParam  = abnfOWS + ";" + abnfOWS + "(" + abnfToken + ")" + abnfOWS + "(?:=" + abnfOWS + "(" + abnfToken + "|" + abnfQuoted + "))?"
)

var (
	linkValueRule = regexp.MustCompile("^" + abnfOWS + "<([!#-;=?-\\[\\]_a-z~]*)>((?:" + abnfParam + ")*)" + abnfOWS)
	paramRule     = regexp.MustCompile(abnfParam)
	extValueRule  = regexp.MustCompile("^UTF-8'([A-Za-z0-9-]*)'(?:[!#$&+\\-.^_`|~0-9A-Za-z]|%[0-9A-F]{2})*$")
	relRule       = regexp.MustCompile("^[a-z][a-z0-9.-]*$")
	typeRule      = regexp.MustCompile("^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}$")
	languageRule  = regexp.MustCompile("^(?i:" +
		"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})" + // language
		"(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?" + // script, region
		"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*" + // variants
		"(?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?" + // extensions
		"|x(?:-[a-z0-9]{1,8})+" +
		"|en-gb-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)|sgn-(?:be-fr|be-nl|ch-de)|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang))$")
)

// checkLinkset returns an error unless body is application/linkset in which every link is
// self-contained (RFC 9264, 4 and 4.1).
func checkLinkset(body string) error {
	for _, c := range []byte(body) {
		if c >= 0x80 {
			return errors.New("not ASCII")
		}
	}
	for rest := body; strings.Trim(rest, " \t\r\n") != ""; {
		m := linkValueRule.FindStringSubmatch(rest)
		if m == nil {
			return fmt.Errorf("no link-value: %.80q", rest)
		}
		if err := checkLinkValue(m[1], m[2]); err != nil {
			return err
		}
		if rest = rest[len(m[0]):]; rest != "" {
			if rest[0] != ',' {
				return fmt.Errorf("no comma: %.80q", rest)
			}
			rest = rest[1:]
		}
	}
	return nil
}

func checkLinkValue(href, params string) error {
	seen := map[string]string{}
	for _, m := range paramRule.FindAllStringSubmatch(params, -1) {
		name, value := m[1], m[2]
		if _, again := seen[name]; again && name != "hreflang" {
			return fmt.Errorf("%s for the second time", name)
		}
		if strings.HasPrefix(value, `"`) {
			value = regexp.MustCompile(`\\(.)`).ReplaceAllString(value[1:len(value)-1], "$1")
		}
		seen[name] = value
		switch {
		case name == "hreflang" && !languageRule.MatchString(value),
			name == "type" && !typeRule.MatchString(value),
			name == "title*" && !extValueRule.MatchString(value):
			return fmt.Errorf("%s=%q", name, value)
		case !slices.Contains([]string{"rel", "anchor", "type", "hreflang", "title", "title*"}, name):
			return fmt.Errorf("parameter %s", name)
		}
		if language := extValueRule.FindStringSubmatch(value); name == "title*" && language[1] != "" && !languageRule.MatchString(language[1]) {
			return fmt.Errorf("language of %s=%q", name, value)
		}
	}
	return errors.Join(checkURI(href), checkURI(seen["anchor"]), checkRelation(seen["rel"]))
}

// checkURI returns an error for a relative reference. It does not use our own parser.
func checkURI(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%q is not a URI: %w", s, err)
	}
	return nil
}

func checkRelation(rel string) error {
	if relRule.MatchString(rel) {
		return nil
	}
	return checkURI(rel)
}

// checkLinksetJSON returns an error unless body is application/linkset+json in which every link
// is self-contained (RFC 9264, 4.2).
func checkLinksetJSON(body string) error {
	var top map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &top); err != nil {
		return err
	}
	if len(top) != 1 || top["linkset"] == nil {
		return errors.New("linkset is not the sole member") // 4.2.1
	}
	var contexts []map[string]json.RawMessage
	if err := json.Unmarshal(top["linkset"], &contexts); err != nil {
		return err
	}
	for _, context := range contexts {
		for member, raw := range context { // 4.2.2
			if member == "anchor" {
				var anchor string
				if err := json.Unmarshal(raw, &anchor); err != nil {
					return err
				}
				if err := checkURI(anchor); err != nil {
					return err
				}
				continue
			}
			var targets []map[string]any
			if err := errors.Join(checkRelation(member), json.Unmarshal(raw, &targets)); err != nil {
				return err
			}
			for _, target := range targets {
				if err := checkTarget(target); err != nil {
					return fmt.Errorf("%s: %w", member, err)
				}
			}
		}
	}
	return nil
}

// checkTarget checks a link target object (4.2.3 and 4.2.4).
func checkTarget(target map[string]any) error {
	href, ok := target["href"].(string)
	if !ok {
		return errors.New("no href")
	}
	if err := checkURI(href); err != nil {
		return err
	}
	for member, value := range target {
		text, isText := value.(string)
		list, isList := value.([]any)
		ok := isList // of an extension (4.2.4.3)
		switch member {
		case "href", "title", "media":
			ok = isText
		case "type":
			ok = isText && typeRule.MatchString(text)
		case "hreflang":
			for _, l := range list {
				tag, isTag := l.(string)
				ok = ok && isTag && languageRule.MatchString(tag)
			}
		}
		if strings.HasSuffix(member, "*") {
			for _, v := range list {
				ok = ok && isTranslation(v)
			}
		}
		if !ok {
			return fmt.Errorf("%s is %v", member, value)
		}
	}
	return nil
}

// isTranslation reports whether v is a value of title* (4.2.4.2).
func isTranslation(v any) bool {
	o, ok := v.(map[string]any)
	_, hasValue := o["value"].(string)
	for member, value := range o {
		tag, isTag := value.(string)
		ok = ok && (member == "value" || member == "language" && isTag && languageRule.MatchString(tag))
	}
	return ok && hasValue
}

// The check accepts the examples of the RFC and rejects what it forbids.
func TestLinksetCheck(t *testing.T) {
	for body, valid := range map[string]bool{
		`{"linkset":[{"anchor":"https://example.net/bar","next":[{"href":"https://example.com/foo1"}]},{"anchor":"https://example.net/boo","https://example.com/relations/baz":[{"href":"https://example.com/foo2"}]}]}`:          true, // figure 3
		`{"linkset":[{"anchor":"https://example.net/bar","next":[{"href":"https://example.com/foo","type":"text/html","hreflang":["en","de"],"title":"Next chapter","title*":[{"value":"nächstes Kapitel","language":"de"}]}]}]}`: true, // figure 5
		`{"linkset":[{"anchor":"https://example.net/bar","next":[{"href":"https://example.com/foo","type":"text/html","foo":["foovalue"],"bar":["barone","bartwo"],"baz*":[{"value":"bazvalue","language":"en"}]}]}]}`:            true, // figure 6
		`{"linkset":[]}`:                                                     true,
		`{"linkset":{}}`:                                                     false,
		`{"linkset":[],"more":1}`:                                            false,
		`{"linkset":[{"anchor":"/relative"}]}`:                               false,
		`{"linkset":[{"Up":[]}]}`:                                            false,
		`{"linkset":[{"up":{"href":"a:b"}}]}`:                                false,
		`{"linkset":[{"up":[{}]}]}`:                                          false,
		`{"linkset":[{"up":[{"href":"a:b","hreflang":"en"}]}]}`:              false,
		`{"linkset":[{"up":[{"href":"a:b","hreflang":["x-unspecified"]}]}]}`: false,
		`{"linkset":[{"up":[{"href":"a:b","type":"text/html;charset=x"}]}]}`: false,
		`{"linkset":[{"up":[{"href":"a:b","title*":"x"}]}]}`:                 false,
		`{"linkset":[{"up":[{"href":"a:b","title*":[{"language":"en"}]}]}]}`: false,
		`{"linkset":[{"up":[{"href":"a:b","foo":"x"}]}]}`:                    false,
	} {
		if err := checkLinksetJSON(body); (err == nil) != valid {
			t.Errorf("%s: %v", body, err)
		}
	}
	for body, valid := range map[string]bool{
		"<https://authors.example.net/johndoe>\n   ; rel=\"author\"\n   ; type=\"application/rdf+xml\"\n   ; anchor=\"https://example.org/resource1\",\n<https://example.org/resource1?version=3>\n   ; rel=\"latest-version\"\n   ; anchor=\"https://example.org/resource1\"\n": true, // figure 8
		"": true,
		"<a:b>; rel=up; anchor=\"a:c\"; title*=UTF-8'de'n%C3%A4chstes": true,
		"<a:b>; rel=up; anchor=\"a:c\"; title*=\"UTF-8'de'n\xe4\"":     false,
		"<a:b>; rel=up; anchor=\"a:c\"; title*=UTF-8'x-unspecified'a":  false,
		"<a:b>; rel=up; rel=down; anchor=\"a:c\"":                      false,
		"<a:b>; rel=\"up down\"; anchor=\"a:c\"":                       false,
		"<a:b>; rel=up":                                                false,
		"<b>; rel=up; anchor=\"a:c\"":                                  false,
		"<a:b\">; rel=up; anchor=\"a:c\"":                              false,
		"<a:b>; rel=up; anchor=\"a:c\" x":                              false,
		"<a:b>; rel=up; anchor=\"a:c\"; title=\"é\"":                   false,
		"<a:b>; rel=up; anchor=\"a:c\"; type=html":                     false,
		"<a:b>; rel=up; anchor=\"a:c\"; hreflang=\"\"":                 false,
		"<a:b>; rel=up; anchor=\"a:c\"; onclick=\"x\"":                 false,
	} {
		if err := checkLinkset(body); (err == nil) != valid {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// RFC 9264: whatever a record contains, the output is a valid link set.
func TestLinksetsAreValid(t *testing.T) {
	all := shapes()
	all["hostile"] = hostile()
	all["odd types"] = oddTypes()
	for label, a := range all {
		if err := checkLinksetJSON(written(t, alone(writeLinksetJSON), a)); err != nil {
			t.Errorf("%s as JSON: %v", label, err)
		}
		if a.Name.IsZero() {
			continue // the context is the sender
		}
		if err := checkLinkset(written(t, alone(writeLinkset), a)); err != nil {
			t.Errorf("%s: %v", label, err)
		}
	}
}
