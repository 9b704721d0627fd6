// Package country finds the country of an IP address in a database file. The file is in the MaxMind
// DB format (https://maxmind.github.io/MaxMind-DB/), which GeoLite2 Country, DB-IP Lite and IPinfo
// Lite use.
package country

import (
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// maxSize is the maximum size of the file in bytes. The whole file is kept in memory.
const maxSize = 512 << 20

// A Table maps IP addresses to countries. It is safe for concurrent use.
type Table struct{ db *maxminddb.Reader }

// Open reads a database file. Later changes of the file have no effect.
func Open(file string) (*Table, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("country: %w", err)
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("country: %s: %d bytes, more than %d", file, info.Size(), int64(maxSize))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("country: %w", err)
	}
	db, err := maxminddb.OpenBytes(b)
	if err != nil {
		return nil, fmt.Errorf("country: %s: not a MaxMind DB database: %w", file, err)
	}
	return &Table{db}, nil
}

// Of returns the two-letter code (ISO 3166-1) of the country of an IP address, or "" if the country
// is unknown.
func (t *Table) Of(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	found := t.db.Lookup(a.Unmap().WithZone(""))
	if !found.Found() {
		return ""
	}
	for _, path := range [][]any{{"country", "iso_code"}, {"country_code"}} {
		var code string
		if err := found.DecodePath(&code, path...); err == nil && isCode(code) {
			return strings.ToUpper(code)
		}
	}
	return ""
}

func isCode(s string) bool {
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	return len(s) == 2 && letter(s[0]) && letter(s[1])
}
