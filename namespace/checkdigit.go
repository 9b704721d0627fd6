package namespace

import "github.com/nomen-project/nomen/internal/pid"

// weighed11 returns the check digit of an ISBN-10 or ISSN, which is modulo 11. The last digit of d
// has the weight 2, the digit before it 3, and so on. The check digit 10 is written as X.
func weighed11(d []byte) byte {
	sum := 0
	for i, c := range d {
		sum += int(c-'0') * (len(d) + 1 - i)
	}
	return "0123456789X"[(11-sum%11)%11]
}

// weighed13 returns the check digit of an ISBN-13, an ISMN or a GS1 key, which is modulo 10. From
// the right, the weights alternate between 3 and 1.
func weighed13(d string) byte {
	sum := 0
	for i := range len(d) {
		w := 1
		if (len(d)-i)%2 == 1 {
			w = 3
		}
		sum += int(d[i]-'0') * w
	}
	return byte('0' + (10-sum%10)%10)
}

// Luhn returns the check digit for the decimal digits d by the Luhn algorithm (ISO/IEC 7812-1).
// IMEIs have this check digit.
func Luhn(d []byte) byte {
	sum := 0
	for i, c := range d {
		v := int(c - '0')
		if (len(d)-i)%2 == 1 {
			v *= 2
		}
		sum += v/10 + v%10
	}
	return byte('0' + (10-sum%10)%10)
}

// mod11radix2 returns the check character of ISO/IEC 7064, MOD 11-2.
func mod11radix2(d []byte) byte { return pid.Mod11Radix2(string(d)) }

// mod37hybrid36 returns the check character of ISO/IEC 7064, MOD 37,36.
func mod37hybrid36(d []byte) byte {
	p := 36
	for _, c := range d {
		p += value36(c)
		if p > 36 {
			p -= 36
		}
		p = p * 2 % 37
	}
	return digit36((37 - p) % 36)
}

// Mod97 interprets d as a decimal number, in which each letter stands for two digits, and returns
// the remainder modulo 97 (ISO/IEC 7064, MOD 97-10).
func Mod97(d []byte) int {
	sum := 0
	for _, c := range d {
		v := value36(c)
		if v >= 10 {
			sum *= 10
		}
		sum = (sum*10 + v) % 97
	}
	return sum
}
