// Package weight reads the weights that the fields Accept and Accept-Language
// give to their elements (RFC 9110, 12.4.2).
package weight

import "strings"

// Most is the weight of an element that says nothing of it.
const Most = 1000

const digits = 3 // behind the point

// Parse reads
//
//	qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
//
// as thousandths. It is not ok if s is anything else.
func Parse(s string) (q int, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if whole != "0" && whole != "1" || len(fraction) > digits {
		return 0, false
	}
	q = int(whole[0] - '0')
	for i := range digits {
		q *= 10
		if i < len(fraction) {
			if fraction[i] < '0' || fraction[i] > '9' {
				return 0, false
			}
			q += int(fraction[i] - '0')
		}
	}
	return q, q <= Most
}
