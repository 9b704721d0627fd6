package accept

import "strings"

// Most is the highest weight in thousandths. It is also the default weight.
const Most = 1000

const digits = 3 // digits after the point

// parseWeight parses a weight, and returns it in thousandths.
//
//	qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
func parseWeight(s string) (q int, ok bool) {
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
