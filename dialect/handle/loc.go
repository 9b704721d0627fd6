package handle

import (
	"encoding/xml"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/iri"
)

const typeLocations = "10320/loc"

// A place is a location of a handle with its attributes.
type place struct {
	url        string
	attributes map[string]string
	ttl        nomen.TTL
}

// weight returns the share of the requests that the place gets.
func (p *place) weight() float64 {
	w, err := strconv.ParseFloat(p.attributes["weight"], 64)
	switch {
	case p.attributes["weight"] == "":
		return 1
	case err != nil || !(w > 0) || w > 1e9:
		return 0
	}
	return w
}

// places has the locations of a handle, and says how to choose among them.
type places struct {
	all    []place
	choose []string
	status string
	plain  bool // without a value of the type 10320/loc, the first place is chosen
}

// xmlLocations is the data of a value of the type 10320/loc.
type xmlLocations struct {
	Attributes []xml.Attr `xml:",any,attr"`
	Locations  []struct {
		Attributes []xml.Attr `xml:",any,attr"`
	} `xml:",any"`
}

// placesOf returns the locations in values, except locations that are not safe for browsers.
func placesOf(handle string, values []nomen.Value) places {
	out := places{choose: []string{"locatt", "address", "country", "score", "weighted"}, plain: true}
	legacy, weights := true, [2]string{"1", "0"} // weights of URL values, and of those with a subtype
	for i := range values {
		var set xmlLocations
		if v := &values[i]; ascii.EqualFold(v.Type, typeLocations) && xml.Unmarshal([]byte(v.Data), &set) == nil {
			if out.plain {
				weights[0], out.plain = "0", false
			}
			legacy = out.read(handle, v, &set, &weights) && legacy
		}
	}
	for n, is := range []func(string) bool{isURLType, isURLSubtype} {
		for i := range values {
			if v := &values[i]; legacy && v.Format == nomen.FormatText && is(v.Type) {
				out.add(place{v.Data, map[string]string{"weight": weights[n], "mode": "legacy"}, v.TTL})
			}
		}
	}
	return out
}

func isURLType(t string) bool { return ascii.IsOneOf(t, typeURL, "0.TYPE/URL") }

func isURLSubtype(t string) bool { return ascii.HasPrefix(t, "URL.") }

// read adds the locations in a value of type 10320/loc, and sets the weights that it gives to URL
// values. It reports whether URL values are locations too.
func (p *places) read(handle string, v *nomen.Value, set *xmlLocations, weights *[2]string) (legacy bool) {
	attributes := attributesOf(set.Attributes)
	for n, key := range []string{"urlWeight", "urlSubtypeWeight"} {
		if given := attributes[key]; given != "" {
			weights[n] = given
		}
	}
	for _, key := range []string{"chooseby", "choose_by"} {
		if list := attributes[key]; list != "" {
			p.choose = strings.Split(strings.ReplaceAll(list, " ", ""), ",")
		}
	}
	p.status = attributes["http_sc"]
	for _, l := range set.Locations {
		a := attributesOf(l.Attributes)
		target := a["href"]
		if target == "" {
			target = strings.NewReplacer("{hdl}", url.QueryEscape(handle), "{hdl:path}", hdl.Escape(handle)).Replace(a["href_template"])
		}
		p.add(place{target, a, v.TTL})
	}
	_, without := attributes["no_legacy"]
	return !without
}

func attributesOf(all []xml.Attr) map[string]string {
	m := make(map[string]string, len(all))
	for _, a := range all {
		m[a.Name.Local] = a.Value
	}
	return m
}

// add adds a place, unless its URL is not safe for browsers.
func (p *places) add(l place) {
	l.url = toURI(l.url)
	u, err := url.Parse(l.url)
	if err == nil && u.Host != "" && ascii.IsOneOf(u.Scheme, "http", "https", "ftp") {
		p.all = append(p.all, l)
	}
}

// toURI converts an IRI to a URI: it escapes characters and encodes the host for DNS.
func toURI(s string) string {
	inURI := func(c byte) bool { return c > ' ' && c < 0x7F && strings.IndexByte(`"<>\^`+"`{|}", c) < 0 }
	if !ascii.IsASCII(s) {
		i, err := iri.Parse(ascii.EscapeUnless(s, func(c byte) bool { return c >= 0x80 || inURI(c) }))
		if err == nil {
			if u, err := i.ASCIIURI(); err == nil {
				return u.String()
			}
		}
	}
	return ascii.EscapeUnless(s, inURI)
}

// A visitor is the client of the proxy.
type visitor struct {
	country string
	address netip.Addr
	locatt  []string // attributes asked for: key:value, or a key
}

// pick chooses the place for a visitor. The function random returns a number from 0 to 1.
func (p *places) pick(v *visitor, random func() float64) (place, bool) {
	left := p.all
	if p.plain {
		left = left[:min(len(left), 1)]
	}
	for _, method := range p.choose {
		if len(left) <= 1 {
			break
		}
		switch method {
		case "locatt":
			for _, want := range v.locatt {
				left = keep(left, func(l *place) bool { return l.matches(want) })
			}
		case "country":
			left = inCountry(left, v.country)
		case "address":
			left = keep(left, func(l *place) bool { return l.isNear(v.address) })
		case "score":
			left = bestScore(left)
		case "weighted":
			return weighted(left, random), true
		}
	}
	if len(left) == 0 {
		return place{}, false
	}
	return weighted(left, random), true
}

// keep returns the places for which a condition holds. If it holds for none, keep returns all of
// them.
func keep(all []place, is func(*place) bool) []place {
	var some []place
	for i := range all {
		if is(&all[i]) {
			some = append(some, all[i])
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// matches reports whether the place has an attribute, with the value if one is given.
func (p *place) matches(want string) bool {
	key, value, given := strings.Cut(want, ":")
	have, ok := p.attributes[key]
	return ok && (!given || have == value)
}

// inCountry returns the places in a country, or the places without a country.
func inCountry(all []place, country string) []place {
	of := func(code string) func(*place) bool {
		return func(l *place) bool { return strings.EqualFold(l.attributes["country"], code) }
	}
	if country != "" {
		if some := keep(all, of(country)); len(some) < len(all) || of(country)(&some[0]) {
			return some
		}
	}
	return keep(all, of(""))
}

func (p *place) isNear(a netip.Addr) bool {
	return slices.ContainsFunc(strings.FieldsFunc(p.attributes["addresses"], func(r rune) bool { return r == ',' || r == ' ' }), func(text string) bool {
		network, err := netip.ParsePrefix(text)
		return err == nil && network.Contains(a)
	})
}

func bestScore(all []place) []place {
	score := func(l *place) float64 {
		n, _ := strconv.ParseFloat(l.attributes["score"], 64)
		return n
	}
	best := score(&all[0])
	for i := range all {
		best = max(best, score(&all[i]))
	}
	return keep(all, func(l *place) bool { return score(l) == best })
}

// weighted returns a random place. Its weight is its share of the requests. Without weights, all
// shares are equal.
func weighted(all []place, random func() float64) place {
	total := 0.0
	for i := range all {
		total += all[i].weight()
	}
	if total <= 0 {
		return all[min(int(random()*float64(len(all))), len(all)-1)]
	}
	at := random() * total
	for i := range all {
		if at -= all[i].weight(); at < 0 {
			return all[i]
		}
	}
	return all[len(all)-1]
}
