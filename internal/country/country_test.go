package country

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tree is the search tree of a database that is being written. Each node has two records. A
// record refers to a node or to data, or it is empty.
type tree struct{ nodes [][2]int }

const nothing, data = -1, 1 << 20 // data+n is the n-th value

// put makes the addresses of a network lead to a value.
func (t *tree) put(network string, value int) {
	p := netip.MustParsePrefix(network)
	bits, all := p.Bits(), p.Addr().As16()
	if p.Addr().Is4() { // at ::/96
		bits, all = bits+96, [16]byte{}
		v4 := p.Addr().As4()
		copy(all[12:], v4[:])
	}
	if len(t.nodes) == 0 {
		t.nodes = [][2]int{{nothing, nothing}}
	}
	node := 0
	for i := range bits {
		side := int(all[i/8] >> (7 - i%8) & 1)
		if i == bits-1 {
			t.nodes[node][side] = data + value
			return
		}
		if t.nodes[node][side] == nothing {
			t.nodes = append(t.nodes, [2]int{nothing, nothing})
			t.nodes[node][side] = len(t.nodes) - 1
		}
		node = t.nodes[node][side]
	}
}

// database returns a database with the tree and the values, which must be encoded.
func (t *tree) database(values ...string) []byte {
	var section bytes.Buffer
	var at []int
	for _, v := range values {
		at = append(at, section.Len())
		section.WriteString(v)
	}
	var b bytes.Buffer
	for _, node := range t.nodes {
		for _, record := range node {
			switch {
			case record == nothing:
				record = len(t.nodes)
			case record >= data:
				record = len(t.nodes) + 16 + at[record-data]
			}
			var four [4]byte
			binary.BigEndian.PutUint32(four[:], uint32(record))
			b.Write(four[1:])
		}
	}
	b.Write(make([]byte, 16))
	b.Write(section.Bytes())
	b.WriteString("\xab\xcd\xefMaxMind.com")
	b.WriteString(object(
		text("node_count"), number32(len(t.nodes)), text("record_size"), number16(24), text("ip_version"), number16(6),
		text("database_type"), text("Test"), text("languages"), "\x00\x04", text("binary_format_major_version"), number16(2),
		text("binary_format_minor_version"), number16(0), text("build_epoch"), "\x01\x02\x01", text("description"), object(),
	))
	return b.Bytes()
}

func object(pairs ...string) string {
	return string([]byte{0xe0 | byte(len(pairs)/2)}) + strings.Join(pairs, "")
}

func text(s string) string {
	if len(s) < 29 {
		return string([]byte{0x40 | byte(len(s))}) + s
	}
	return string([]byte{0x40 | 29, byte(len(s) - 29)}) + s
}

func number16(n int) string { return string([]byte{0xa2, byte(n >> 8), byte(n)}) }

func number32(n int) string {
	return string([]byte{0xc4, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func TestOf(t *testing.T) {
	var tr tree
	tr.put("192.0.2.0/24", 0)
	tr.put("198.51.100.0/25", 1)
	tr.put("2001:db8:1::/48", 0)
	tr.put("203.0.113.0/24", 2)
	tr.put("2001:db8:2::/48", 3)
	file := filepath.Join(t.TempDir(), "country.mmdb")
	content := tr.database(
		object(text("country"), object(text("iso_code"), text("FI"))),
		object(text("country_code"), text("de")),
		object(text("country"), object(text("iso_code"), text("Q9"))),
		object(text("continent"), text("EU")),
	)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{
		"192.0.2.7": "FI", "::ffff:192.0.2.7": "FI", "192.0.3.7": "", "198.51.100.1": "DE", "198.51.100.129": "",
		"2001:db8:1::5": "FI", "2001:db8:9::5": "", "203.0.113.1": "", "2001:db8:2::1": "", "fe80::1%eth0": "",
	} {
		if got := table.Of(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: got %q, want %q", addr, got, want)
		}
	}
	if got := table.Of(netip.Addr{}); got != "" {
		t.Errorf("no address: %q", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "text": "country,code\n", "marker": "\xab\xcd\xefMaxMind.com"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(file); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil {
		t.Error("no file: no error")
	}
}

func BenchmarkOf(b *testing.B) {
	var tr tree
	tr.put("192.0.2.0/24", 0)
	file := filepath.Join(b.TempDir(), "country.mmdb")
	if err := os.WriteFile(file, tr.database(object(text("country"), object(text("iso_code"), text("FI")))), 0o600); err != nil {
		b.Fatal(err)
	}
	table, err := Open(file)
	if err != nil {
		b.Fatal(err)
	}
	a := netip.MustParseAddr("192.0.2.7")
	b.ReportAllocs()
	for b.Loop() {
		if table.Of(a) != "FI" {
			b.Fatal("not found")
		}
	}
}
