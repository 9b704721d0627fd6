package handle

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/store"
)

const typeLocations = "10320/loc"

// A place is a location of a handle with its attributes.
type place struct {
	url        string
	attributes map[string]string
	ttl        nomen.TTL
	unlinked   bool // the attribute rel excludes the place from the links
}

// weight returns the relative share of requests for the place.
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

// places has the locations of a handle, and the data for choosing among them.
type places struct {
	all    []place
	links  []place  // of values of the type 10320/links
	fields []string // of values of the type 10320/headers
	choose []string
	status string
	plain  bool        // the handle has only URL values, of which the first is chosen
	ttls   []nomen.TTL // of the other values that the choice depends on
}

// maxPlaces is the maximum number of locations from which the proxy chooses. Further locations are
// ignored.
const maxPlaces = 2 * store.MaxLocations

// placesOf returns the locations in the values of a handle and of included handles. It leaves out
// locations that are not safe for browsers.
func placesOf(handle string, values []nomen.Value, in *includer) places {
	own := setsOf(values)
	local := in.withIncluded(own)
	var namespace, global sets
	if !isTrue(first(local.locations, "no_nslocs")) {
		namespace = in.namespace(handle, own.locations, local.locations)
		global = in.withIncluded(namespace)
	}
	every := slices.Concat(local.locations, global.locations)
	p := places{choose: []string{"locatt", "address", "country", "score", "weighted"}}
	p.addSets(handle, local.locations)
	p.addURLs(values, len(own.locations) > 0, every)
	from := len(p.all)
	p.addSets(handle, global.locations)
	p.plain = own.isEmpty() && len(p.all) == from
	p.addFields(handle, &local)
	if quiet := isTrue(first(every, "suppressNsHeaders")) || isTrue(first(every, "suppressNsHeadersIfLocalHeaders")) && len(p.links)+len(p.fields) > 0; quiet {
		for i := from; i < len(p.all); i++ {
			p.all[i].unlinked = true
		}
	} else {
		p.addFields(handle, &global)
	}
	p.ttls = slices.Concat(local.ttls, global.ttls, in.ttls)
	configuring := slices.Concat(own.locations, namespace.locations)
	if list := cmp.Or(first(configuring, "choose_by"), first(configuring, "chooseby")); list != "" {
		p.choose = strings.Split(strings.ToLower(strings.ReplaceAll(list, " ", "")), ",")
	}
	p.status = first(configuring, "http_sc")
	return p
}

func (p *places) addSets(handle string, all []locationSet) {
	for i := range all {
		p.all = addSet(p.all, handle, &all[i])
	}
}

// addFields adds the links and header fields of values.
func (p *places) addFields(handle string, s *sets) {
	for i := range s.links {
		p.links = addSet(p.links, handle, &s.links[i])
	}
	p.fields = append(p.fields, s.fields...)
}

// addURLs adds the URL values of a handle. The attributes of sets determine whether they are added,
// and their weights. The parameter hasSet reports whether the handle itself has a value of the type
// 10320/loc.
func (p *places) addURLs(values []nomen.Value, hasSet bool, all []locationSet) {
	if isTrue(first(all, "no_legacy")) {
		return
	}
	weights := [...]string{"0", "0"}
	if !hasSet {
		weights[0] = "1"
	}
	for n, key := range []string{"urlWeight", "urlSubtypeWeight"} {
		weights[n] = cmp.Or(first(all, key), weights[n])
	}
	if !slices.ContainsFunc(values, func(v nomen.Value) bool { return isURLType(v.Type) }) {
		weights[1] = weights[0]
	}
	for n, is := range []func(string) bool{isURLType, isURLSubtype} {
		for i := range values {
			if v := &values[i]; v.Format == nomen.FormatText && is(v.Type) {
				p.all = add(p.all, place{url: v.Data, attributes: map[string]string{"weight": weights[n], "mode": "legacy"}, ttl: v.TTL})
			}
		}
	}
}

// left returns how long a redirect to a place may be cached. This is the time until one of the
// values expires on which the choice depends.
func (p *places) left(chosen *place, now time.Time) time.Duration {
	least := chosen.ttl.Left(now)
	for i := 0; i < len(p.all) && !p.plain; i++ {
		least = min(least, p.all[i].ttl.Left(now))
	}
	for _, t := range p.ttls {
		least = min(least, t.Left(now))
	}
	return least
}

func isURLType(t string) bool { return ascii.IsOneOf(t, typeURL, "0.TYPE/URL") }

func isURLSubtype(t string) bool { return ascii.HasPrefix(t, "URL.") }

// addSet appends the locations in a set to a list.
func addSet(to []place, handle string, set *locationSet) []place {
	for _, a := range set.locations {
		target := a["href"]
		if target == "" {
			target = strings.NewReplacer("{hdl}", url.QueryEscape(handle), "{hdl:path}", hdl.Escape(handle)).Replace(a["href_template"])
		}
		to = add(to, place{url: target, attributes: a, ttl: set.ttl})
	}
	return to
}

// add appends a place to a list, unless its URL is not safe for browsers or the list is full.
func add(to []place, l place) []place {
	l.url = toURI(l.url)
	u, err := url.Parse(l.url)
	if err != nil || u.Host == "" || !ascii.IsOneOf(u.Scheme, "http", "https", "ftp") || len(to) >= maxPlaces {
		return to
	}
	return append(to, l)
}

// toURI converts an IRI to a URI. It percent-encodes characters, and converts an internationalized
// host name to ASCII.
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

// A visitor is a client of the proxy.
type visitor struct {
	country string
	address netip.Addr
	locatt  []string // requested attributes: key:value, or only a key
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

// keep returns the places that satisfy a condition. If there are no such places, keep returns all
// places.
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

// matches reports whether the place has an attribute. If the parameter want includes a value, the
// attribute must have this value.
func (p *place) matches(want string) bool {
	key, value, given := strings.Cut(want, ":")
	have, ok := p.attributes[strings.TrimSpace(key)]
	return ok && (!given || have == value)
}

// inCountry returns the places in a country. If there are no such places, it returns the places
// without a country.
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

// weighted returns a random place. The probability of a place is proportional to its weight. If no
// place has a weight, all places have the same probability.
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
