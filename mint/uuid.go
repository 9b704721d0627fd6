package mint

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// A uuidSource generates UUIDs (RFC 9562). UUIDs of version 7 increase strictly, even if the clock
// goes back. It is not safe for concurrent use.
type uuidSource struct {
	now     func() time.Time
	random  source
	last    int64  // time of the last UUID of version 7 in milliseconds
	counter uint16 // counter within last
}

func newUUIDs(now func() time.Time, random io.Reader) *uuidSource {
	return &uuidSource{now: now, random: newSource(random), last: -1}
}

// v4 returns a random UUID in lower case (RFC 9562, section 5.4).
func (u *uuidSource) v4() (string, error) {
	var b [16]byte
	err := u.random.read(b[:])
	return spell(b, 4), err
}

const (
	maxTime    = 1<<48 - 1 // greatest time in a UUID of version 7, in milliseconds since 1970
	maxCounter = 1<<12 - 1
	seedMask   = 1<<11 - 1 // the first bit of the counter is 0 initially, to leave room for increments
)

// v7 returns a time-based UUID in lower case (RFC 9562, section 5.7). The 12 bits of rand_a are a
// counter, whose lower half is random at the start of each millisecond (section 6.2, method 1). If
// the counter overflows or the clock goes back, the time in a UUID is later than the time of the
// clock.
func (u *uuidSource) v7() (string, error) {
	ms := u.now().UnixMilli()
	if ms < 0 || ms > maxTime {
		return "", fmt.Errorf("mint: the clock is at %d ms since 1970: a UUID requires 0 to %d", ms, int64(maxTime))
	}
	var b [16]byte
	if err := u.random.read(b[6:]); err != nil {
		return "", err
	}
	seed := binary.BigEndian.Uint16(b[6:]) & seedMask
	switch {
	case ms > u.last:
		u.last, u.counter = ms, seed
	case u.counter < maxCounter:
		u.counter++
	default:
		u.last, u.counter = u.last+1, seed
	}
	binary.BigEndian.PutUint64(b[:], uint64(u.last)<<16|uint64(u.counter))
	return spell(b, 7), nil
}

// spell sets the version and the variant in b (RFC 9562, sections 4.1 and 4.2), and returns the
// text of the UUID.
func spell(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	s := make([]byte, 0, 36)
	for i, end := range [...]int{4, 6, 8, 10, 16} {
		start := [...]int{0, 4, 6, 8, 10}[i]
		if i > 0 {
			s = append(s, '-')
		}
		s = hex.AppendEncode(s, b[start:end])
	}
	return string(s)
}
