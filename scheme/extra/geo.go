package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var geo = scheme.Scheme{
	Name: "geo", Title: "Geographic locations", Kind: scheme.KindOther,
	Reference: "RFC 5870",
	Example:   "geo:48.2010,16.3695,183;u=40",
	Note:      "latitude comes first; the longitude is 0 at a pole and 180 on the date line; ?q= and ?z= are common but not defined by any document",
	Security:  "may reveal the location of a person",
	Special: []scheme.Special{
		inPath(",", "separates coordinates"),
		inPath(";", "precedes a parameter"),
	},
	Properties: "identifies a point in a coordinate reference system, WGS 84 by default; nothing is retrieved",
	Rules:      scheme.RuleSet{Check: checkGeo, Parts: partsGeo, Canonical: canonicalGeo},
}

const (
	ruleGeo      = "RFC 5870, 3.3: geo-URI"
	ruleGeoCoord = "RFC 5870, 3.3: coordinates"
	ruleGeoNum   = "RFC 5870, 3.3: num"
	ruleGeoParam = "RFC 5870, 3.3: parameter"
)

type geoLayout struct {
	coord [3]struct{ from, to int } // only the first n are valid
	n     int                       // number of coordinates; 4 means more than three
	end   int                       // end of the coordinates
	wgs84 bool
}

func geoOf(l *layout.Layout) geoLayout {
	p := geoLayout{end: ascii.Until(l.Text, l.Path, l.PathEnd, ';'), wgs84: true}
	for at := l.Path; at <= p.end; {
		to := ascii.Until(l.Text, at, p.end, ',')
		if p.n == len(p.coord) {
			p.n++
			break
		}
		p.coord[p.n].from, p.coord[p.n].to = at, to
		p.n++
		at = to + 1
	}
	if p.end < l.PathEnd {
		f := fieldAt(l.Text, p.end+1, l.PathEnd, ';')
		p.wgs84 = !f.is(l.Text, "crs") || f.value >= 0 && ascii.EqualFold(l.Text[f.value:f.end], "wgs84")
	}
	return p
}

// checkGeo checks a geo URI.
//
//	geo-path    = coordinates p
//	coordinates = coord-a "," coord-b [ "," coord-c ]
//	p           = [ crsp ] [ uncp ] *parameter
func checkGeo(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleGeo, "the latitude"); bad != nil {
		return bad
	}
	p := geoOf(&l)
	if p.n != 2 && p.n != 3 {
		return layout.Refuse(l.Path, p.end, ruleGeoCoord, "expected two or three numbers separated by commas")
	}
	for _, c := range p.coord[:p.n] {
		if bad := badNum(l.Text, c.from, c.to, true); bad >= 0 {
			return layout.Refuse(bad, min(bad+1, c.to), ruleGeoNum, "invalid number: want digits, optionally with a leading minus sign and a fraction after a dot")
		}
	}
	if bad := firstOf(checkGeoParams(&l, p.end), refuseQuery(&l, ruleGeo), refuseFragment(&l, ruleGeo)); bad != nil {
		return bad
	}
	if !p.wgs84 {
		return []scheme.Finding{layout.Warn(scheme.CodeUndefined, p.end+1, ascii.Until(l.Text, p.end+1, l.PathEnd, ';'), "RFC 5870, 3.4.1", "only wgs84 is defined; with another coordinate reference system the numbers have no defined meaning")}
	}
	return checkWGS84(&l, &p)
}

// checkWGS84 checks that the coordinates are in range (RFC 5870, section 3.4.2).
func checkWGS84(l *layout.Layout, p *geoLayout) []scheme.Finding {
	latitude, longitude := l.Text[p.coord[0].from:p.coord[0].to], l.Text[p.coord[1].from:p.coord[1].to]
	far := func(i int, message string) []scheme.Finding {
		return layout.RefuseAs(scheme.CodeValue, p.coord[i].from, p.coord[i].to, "RFC 5870, 3.4.2", message)
	}
	switch {
	case digitsBeforeDot(latitude) > 2 || compareNum(latitude, "90") > 0:
		return far(0, "the latitude must be from -90 to 90")
	case digitsBeforeDot(longitude) > 3 || compareNum(longitude, "180") > 0:
		return far(1, "the longitude must be from -180 to 180")
	case compareNum(latitude, "90") == 0 && compareNum(longitude, "0") != 0:
		return []scheme.Finding{layout.Instead(layout.Remark(scheme.CodeForm, p.coord[1].from, p.coord[1].to, "RFC 5870, 3.4.2", "the longitude of a pole must be 0"), "0")}
	}
	return nil
}

// checkGeoParams checks the parameters. The optional parameters crs and u must come before all
// others.
func checkGeoParams(l *layout.Layout, from int) []scheme.Finding {
	n := 0
	for f := range fields(l.Text, from+1, l.PathEnd, ';') {
		if bad := checkParamName(l.Text, f, ruleGeoParam); bad != nil {
			return bad
		}
		switch {
		case f.is(l.Text, "crs"):
			switch {
			case n > 0:
				return layout.Refuse(f.name, f.end, "RFC 5870, 3.3: crsp", "crs must be the first parameter and appear only once")
			case f.empty() || firstNot(l.Text, f.value, f.end, isTelName) >= 0:
				return layout.Refuse(f.name, f.end, "RFC 5870, 3.3: crslabel", "the name of a coordinate reference system must consist of letters, digits and hyphens")
			}
		case f.is(l.Text, "u"):
			first := fieldAt(l.Text, from+1, l.PathEnd, ';')
			switch {
			case n > 1 || n == 1 && !first.is(l.Text, "crs"):
				return layout.Refuse(f.name, f.end, "RFC 5870, 3.3: uncp", "u must follow crs, precede all other parameters, and appear only once")
			case f.empty() || badNum(l.Text, f.value, f.end, false) >= 0:
				return layout.Refuse(f.name, f.end, "RFC 5870, 3.3: uval", "the uncertainty must be a number of metres")
			}
		default:
			if bad := checkParamValue(l.Text, f, ruleGeoParam, charset{isGeoValue, "RFC 5870, 3.3: pvalue", "must be percent-encoded in a parameter value"}); bad != nil {
				return bad
			}
		}
		n++
	}
	return nil
}

// isGeoValue reports whether c is a paramchar. It accepts the percent sign, which begins a
// percent-encoding.
func isGeoValue(c byte) bool { return c != '/' && isTelValue(c) }

// badNum returns the offset of the first invalid byte of a number, or -1 if the number is valid.
//
//	pnum = 1*DIGIT [ "." 1*DIGIT ]
//	num  = [ "-" ] pnum
func badNum(s string, from, to int, signed bool) int {
	if signed && from < to && s[from] == '-' {
		from++
	}
	at := ascii.Run(s[:to], from, ascii.IsDigit)
	if at == from || at == to {
		return badUnless(at == to && at > from, at)
	}
	if s[at] != '.' {
		return at
	}
	end := ascii.Run(s[:to], at+1, ascii.IsDigit)
	return badUnless(end == to && end > at+1, end)
}

func badUnless(valid bool, offset int) int {
	if valid {
		return -1
	}
	return offset
}

func digitsBeforeDot(num string) int {
	num = strings.TrimPrefix(num, "-")
	return ascii.Until(num, 0, len(num), '.')
}

// plainNum splits a number into its sign, its integer part and its fraction, without unnecessary
// zeros.
func plainNum(num string) (negative bool, whole, fraction string) {
	num, negative = strings.CutPrefix(num, "-")
	whole, fraction, _ = strings.Cut(num, ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	return negative && whole+fraction != "", whole, fraction
}

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

func partsGeo(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	p := geoOf(&t.Layout)
	names := [...]string{"coord-a", "coord-b", "coord-c"}
	if p.wgs84 {
		names = [...]string{"latitude", "longitude", "altitude"}
	}
	for i, c := range p.coord[:min(p.n, len(p.coord))] {
		t.Part(names[i], c.from, c.to)
	}
	if p.end < t.PathEnd {
		appendFields(&t, "parameter", p.end+1, t.PathEnd, ';')
	}
	return t.Parts
}

// canonicalGeo returns the form in which RFC 5870, section 3.4.4 compares URIs. Numbers have no
// unnecessary digits, the poles and the date line have only one longitude, the default coordinate
// reference system is omitted, and parameters are sorted.
func canonicalGeo(u uri.URI) string {
	l := layout.Of(u)
	p := geoOf(&l)
	b := []byte("geo:")
	for i, c := range p.coord[:p.n] {
		num := l.Text[c.from:c.to]
		switch {
		case i == 1 && p.wgs84 && compareNum(l.Text[p.coord[0].from:p.coord[0].to], "90") == 0:
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
		f := fieldAt(l.Text, min(from, l.PathEnd), l.PathEnd, ';')
		if !f.is(l.Text, name) {
			continue
		}
		if name == "u" {
			b = appendNum(append(b, ";u="...), l.Text[f.value:f.end])
		} else if !p.wgs84 {
			b = append(append(b, ";crs="...), strings.ToLower(l.Text[f.value:f.end])...)
		}
		from = f.end + 1
	}
	for _, param := range sortedFields(l.Text, from, l.PathEnd, ';', func(b []byte, f field) []byte {
		return append(append(b, strings.ToLower(l.Text[f.name:f.nameEnd])...), l.Text[f.nameEnd:f.end]...)
	}) {
		b = append(append(b, ';'), param...)
	}
	return string(b)
}
