package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var geo = Scheme{
	Name: "geo", Title: "Geographic locations", Kind: KindOther,
	Reference: "RFC 5870",
	Example:   "geo:48.2010,16.3695,183;u=40",
	Note:      "latitude comes first; the longitude of a pole is 0, that of the date line 180; many add ?q= and ?z=, which no document defines",
	Security:  "tells where somebody is",
	Special: []Special{
		{uri.ComponentPath, ",", "separates coordinates"},
		{uri.ComponentPath, ";", "precedes a parameter"},
	},
	Properties: "a point in the coordinate reference system, WGS 84 if none is said; nothing is retrieved",
	Rules:      RuleSet{Check: checkGeo, Parts: partsGeo, Canonical: canonicalGeo},
}

// The productions of geo URIs.
const (
	ruleGeo      = "RFC 5870, 3.3: geo-URI"
	ruleGeoCoord = "RFC 5870, 3.3: coordinates"
	ruleGeoNum   = "RFC 5870, 3.3: num"
	ruleGeoParam = "RFC 5870, 3.3: parameter"
)

// A place says where the pieces of a location are.
type place struct {
	coord [3]struct{ from, to int } // as many as n
	n     int                       // 4 if there are too many
	end   int                       // of the coordinates
	wgs84 bool
}

// place measures a location.
func (l *layout) place() place {
	p := place{end: until(l.s, l.path, l.pathEnd, ';'), wgs84: true}
	for at := l.path; at <= p.end; {
		to := until(l.s, at, p.end, ',')
		if p.n == len(p.coord) {
			p.n++
			break
		}
		p.coord[p.n].from, p.coord[p.n].to = at, to
		p.n++
		at = to + 1
	}
	if p.end < l.pathEnd {
		f := nextField(l.s, p.end+1, l.pathEnd, ';')
		p.wgs84 = !f.is(l.s, "crs") || f.value >= 0 && equalFold(l.s[f.value:f.end], "wgs84")
	}
	return p
}

// checkGeo checks a location.
//
//	geo-path    = coordinates p
//	coordinates = coord-a "," coord-b [ "," coord-c ]
//	p           = [ crsp ] [ uncp ] *parameter
func checkGeo(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleGeo, "the latitude"); bad != nil {
		return bad
	}
	p := l.place()
	if p.n != 2 && p.n != 3 {
		return refuse(l.path, p.end, ruleGeoCoord, "a location is two or three numbers with commas between")
	}
	for _, c := range p.coord[:p.n] {
		if bad := badNum(l.s, c.from, c.to, true); bad >= 0 {
			return refuse(bad, min(bad+1, c.to), ruleGeoNum, "a number is digits, perhaps with a minus sign before them and a fraction after a dot")
		}
	}
	if bad := l.checkGeoParams(p.end); bad != nil {
		return bad
	}
	if bad := l.refuseQuery(ruleGeo); bad != nil {
		return bad
	}
	if bad := l.refuseFragment(ruleGeo); bad != nil {
		return bad
	}
	if !p.wgs84 {
		return []Finding{warn(CodeUndefined, p.end+1, until(l.s, p.end+1, l.pathEnd, ';'), "RFC 5870, 3.4.1", "only wgs84 is defined: the numbers mean nothing without this coordinate reference system")}
	}
	return l.checkWGS84(&p)
}

// checkWGS84 checks that there is such a place on Earth (RFC 5870, 3.4.2).
func (l *layout) checkWGS84(p *place) []Finding {
	latitude, longitude := l.s[p.coord[0].from:p.coord[0].to], l.s[p.coord[1].from:p.coord[1].to]
	far := func(i int, message string) []Finding {
		f := broken(p.coord[i].from, p.coord[i].to, "RFC 5870, 3.4.2", message)
		f.Code = CodeValue
		return []Finding{f}
	}
	switch {
	case digitsBeforeDot(latitude) > 2 || compareNum(latitude, "90") > 0:
		return far(0, "the latitude is from -90 to 90")
	case digitsBeforeDot(longitude) > 3 || compareNum(longitude, "180") > 0:
		return far(1, "the longitude is from -180 to 180")
	case compareNum(latitude, "90") == 0 && compareNum(longitude, "0") != 0:
		return []Finding{remark(CodeForm, p.coord[1].from, p.coord[1].to, "RFC 5870, 3.4.2", "the longitude of a pole is written 0").instead("0")}
	}
	return nil
}

// checkGeoParams checks the parameters after the coordinates: crs, then u, each
// once, then others.
func (l *layout) checkGeoParams(from int) []Finding {
	for at, n := from+1, 0; at <= l.pathEnd; n++ {
		f := nextField(l.s, at, l.pathEnd, ';')
		if f.name == f.nameEnd {
			return refuse(f.name, f.end, ruleGeoParam, "the name of the parameter is missing")
		}
		if i := firstNot(l.s, f.name, f.nameEnd, isTelName); i >= 0 {
			return refuse(i, i+1, ruleGeoParam, "the name of a parameter is letters, digits and hyphens")
		}
		switch {
		case f.is(l.s, "crs"):
			switch {
			case n > 0:
				return refuse(f.name, f.end, "RFC 5870, 3.3: crsp", "crs comes first, and once")
			case f.empty() || firstNot(l.s, f.value, f.end, isTelName) >= 0:
				return refuse(f.name, f.end, "RFC 5870, 3.3: crslabel", "a coordinate reference system is letters, digits and hyphens")
			}
		case f.is(l.s, "u"):
			first := nextField(l.s, from+1, l.pathEnd, ';')
			switch {
			case n > 1 || n == 1 && !first.is(l.s, "crs"):
				return refuse(f.name, f.end, "RFC 5870, 3.3: uncp", "u comes after crs, before all others, and once")
			case f.empty() || badNum(l.s, f.value, f.end, false) >= 0:
				return refuse(f.name, f.end, "RFC 5870, 3.3: uval", "the uncertainty is a number of metres")
			}
		case f.value == f.end:
			return refuse(f.name, f.end, ruleGeoParam, "the value of the parameter is missing")
		case f.value >= 0:
			if i := firstNot(l.s, f.value, f.end, isGeoValue); i >= 0 {
				return refuse(i, i+1, "RFC 5870, 3.3: pvalue", "must be escaped in the value of a parameter")
			}
		}
		at = f.end + 1
	}
	return nil
}

// isGeoValue reports whether c is a paramchar; a percent sign begins an escape.
func isGeoValue(c byte) bool { return c != '/' && isTelValue(c) }

// badNum returns the offset of what is no number, -1 if it is one.
//
//	pnum = 1*DIGIT [ "." 1*DIGIT ]
//	num  = [ "-" ] pnum
func badNum(s string, from, to int, signed bool) int {
	if signed && from < to && s[from] == '-' {
		from++
	}
	at := run(s[:to], from, isDigit)
	if at == from || at == to {
		return badUnless(at == to && at > from, at)
	}
	if s[at] != '.' {
		return at
	}
	end := run(s[:to], at+1, isDigit)
	return badUnless(end == to && end > at+1, end)
}

// badUnless returns the offset of what is bad, -1 if it is good.
func badUnless(good bool, at int) int {
	if good {
		return -1
	}
	return at
}

// digitsBeforeDot counts.
func digitsBeforeDot(num string) int {
	num = strings.TrimPrefix(num, "-")
	return until(num, 0, len(num), '.')
}

// plainNum returns sign, whole and fraction of a number without needless zeros.
func plainNum(num string) (negative bool, whole, fraction string) {
	num, negative = strings.CutPrefix(num, "-")
	whole, fraction, _ = strings.Cut(num, ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	return negative && whole+fraction != "", whole, fraction
}

// compareNum compares the distance of a number from zero with a whole number.
func compareNum(num, limit string) int {
	_, whole, fraction := plainNum(num)
	if whole == "" {
		whole = "0"
	}
	switch {
	case len(whole) != len(limit):
		return len(whole) - len(limit)
	case whole != limit:
		return strings.Compare(whole, limit)
	}
	return len(fraction)
}

// appendNum appends the one spelling of a number; minus nothing is nothing.
func appendNum(b []byte, num string) []byte {
	negative, whole, fraction := plainNum(num)
	if negative {
		b = append(b, '-')
	}
	if whole == "" {
		whole = "0"
	}
	b = append(b, whole...)
	if fraction != "" {
		b = append(append(b, '.'), fraction...)
	}
	return b
}

func partsGeo(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	p := t.place()
	names := [...]string{"coord-a", "coord-b", "coord-c"}
	if p.wgs84 {
		names = [...]string{"latitude", "longitude", "altitude"}
	}
	for i, c := range p.coord[:min(p.n, len(p.coord))] {
		t.part(names[i], c.from, c.to)
	}
	if p.end < t.pathEnd {
		t.fields(p.end+1, t.pathEnd, ';')
	}
	return t.parts
}

// canonicalGeo is what is left to compare by RFC 5870, 3.4.4: numbers without
// needless digits, poles and the date line with one longitude, the default
// coordinate reference system not said, parameters in order.
func canonicalGeo(u uri.URI) string {
	l := layoutOf(u)
	p := l.place()
	b := []byte("geo:")
	for i, c := range p.coord[:p.n] {
		num := l.s[c.from:c.to]
		switch {
		case i == 1 && p.wgs84 && compareNum(l.s[p.coord[0].from:p.coord[0].to], "90") == 0:
			num = "0"
		case i == 1 && p.wgs84 && compareNum(num, "180") == 0:
			num = "180"
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNum(b, num)
	}
	from := p.end + 1
	for _, name := range [...]string{"crs", "u"} {
		f := nextField(l.s, min(from, l.pathEnd), l.pathEnd, ';')
		if !f.is(l.s, name) {
			continue
		}
		if name == "u" {
			b = appendNum(append(b, ";u="...), l.s[f.value:f.end])
		} else if !p.wgs84 {
			b = append(append(b, ";crs="...), strings.ToLower(l.s[f.value:f.end])...)
		}
		from = f.end + 1
	}
	for _, param := range sortedFields(l.s, from, l.pathEnd, ';', func(b []byte, f field) []byte {
		return append(append(b, strings.ToLower(l.s[f.name:f.nameEnd])...), l.s[f.nameEnd:f.end]...)
	}) {
		b = append(append(b, ';'), param...)
	}
	return string(b)
}
