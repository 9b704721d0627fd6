package main

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

type fileLayout struct {
	text   []byte
	values map[string]filePlace
	keys   map[string]filePlace
	pairs  []pair // key-value pairs outside inline tables
}

// A pair is a key-value pair or a table header, with its byte offsets in the document.
type pair struct {
	path       string
	start, end int
	plain      bool // a key-value pair whose value is neither an inline table nor a list of them
}

// readLayout finds the positions of all keys and values in a TOML document, up to the first syntax
// error.
func readLayout(text []byte) *fileLayout {
	l := &fileLayout{text: text, values: map[string]filePlace{}, keys: map[string]filePlace{}}
	var p unstable.Parser
	p.Reset(text)
	counts := map[string]int{} // tables of each list of tables
	table := ""
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind == unstable.KeyValue {
			l.addPair(n, table)
			continue
		}
		table = l.addHeader(n, counts)
	}
	return l
}

func (l *fileLayout) addHeader(n *unstable.Node, counts map[string]int) (path string) {
	for it := n.Key(); it.Next(); {
		path = childPath(path, string(it.Node().Data))
		if n.Kind == unstable.ArrayTable && it.IsLast() {
			counts[path]++
		}
		l.place(l.keys, path, it.Node().Raw.Offset)
		if counts[path] > 0 {
			path = childPath(path, strconv.Itoa(counts[path]))
		}
	}
	at := int(n.Child().Raw.Offset)
	l.place(l.values, path, n.Child().Raw.Offset)
	start, end := 1+bytes.LastIndexByte(l.text[:at], '\n'), len(l.text)
	if i := bytes.IndexByte(l.text[at:], '\n'); i >= 0 {
		end = at + i
	}
	l.pairs = append(l.pairs, pair{path, start, end, false})
	return path
}

func (l *fileLayout) addPair(n *unstable.Node, table string) {
	start := int(n.Raw.Offset)
	value := n.Value()
	listed := value.Kind == unstable.Array && value.Child().Valid() && value.Child().Kind == unstable.InlineTable
	path := l.addValue(n, table, 0)
	l.pairs = append(l.pairs, pair{path, start, start + int(n.Raw.Length), value.Kind != unstable.InlineTable && !listed})
}

// maxNested limits the depth of inline tables that addValue examines.
const maxNested = 16

func (l *fileLayout) addValue(n *unstable.Node, table string, depth int) (path string) {
	path = table
	end := 0
	for it := n.Key(); it.Next(); {
		path = childPath(path, string(it.Node().Data))
		l.place(l.keys, path, it.Node().Raw.Offset)
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	rest := bytes.TrimLeft(l.text[end:], " \t=")
	l.place(l.values, path, uint32(len(l.text)-len(rest)))
	l.addInside(n.Value(), path, depth+1)
	return path
}

func (l *fileLayout) addInside(n *unstable.Node, path string, depth int) {
	if depth > maxNested || n.Kind != unstable.Array && n.Kind != unstable.InlineTable {
		return
	}
	i := 0
	for it := n.Children(); it.Next(); {
		e := it.Node()
		if e.Kind == unstable.KeyValue {
			l.addValue(e, path, depth)
			continue
		}
		i++
		of := childPath(path, strconv.Itoa(i))
		if e.Raw.Length > 0 {
			l.place(l.values, of, e.Raw.Offset)
		}
		l.addInside(e, of, depth+1)
	}
}

func (l *fileLayout) place(of map[string]filePlace, path string, offset uint32) {
	if _, ok := of[path]; ok {
		return
	}
	before := l.text[:offset]
	of[path] = filePlace{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')}
}

func childPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// tablesOnly returns a copy of the document that contains only the given tables. Everything else is
// replaced by spaces, so that positions do not change. A plain value whose key is the name of a
// table belongs to an option, and is replaced as well.
func (l *fileLayout) tablesOnly(tables, isOption map[string]bool) []byte {
	text := bytes.Clone(l.text)
	for _, p := range l.pairs {
		first, _, inside := strings.Cut(p.path, ".")
		if !tables[first] || !inside && p.plain && isOption[first] {
			erase(text[p.start:p.end])
		}
	}
	return text
}

// erasePair replaces the key-value pair at a position by spaces. It returns false if there is no
// pair at the position.
func (l *fileLayout) erasePair(text []byte, at filePlace) bool {
	offset := 0
	for range at.line - 1 {
		offset += bytes.IndexByte(text[offset:], '\n') + 1
	}
	offset += at.column - 1
	for _, p := range l.pairs {
		if p.start <= offset && offset < p.end && len(bytes.TrimSpace(text[p.start:p.end])) > 0 && text[p.start] != '[' {
			erase(text[p.start:p.end])
			return true
		}
	}
	return false
}

func erase(text []byte) {
	for i, b := range text {
		if b != '\n' && b != '\r' {
			text[i] = ' '
		}
	}
}
