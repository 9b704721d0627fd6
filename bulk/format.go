package bulk

import "strings"

// A Format is a way to write records into a file.
type Format uint8

// The formats.
const (
	JSONLines Format = iota // the default
)

// ParseFormat returns the format with the name s on the command line: jsonl.
func ParseFormat(s string) (Format, bool) { return JSONLines, s == "jsonl" }

// String returns the name of the format on the command line.
func (f Format) String() string { return "jsonl" }

// A Compression is a way to make a file smaller.
type Compression uint8

// The compressions.
const (
	Auto Compression = iota // reading: what the first bytes say; writing: none
	Plain
	Gzip
	Zstd
)

// Suffixes returns what the name of a file says about its content; ok is false
// when the suffix is not one of a known format. "-" and names without a suffix
// are JSON Lines.
func Suffixes(filename string) (f Format, c Compression, ok bool) {
	base := filename[strings.LastIndexAny(filename, `/\`)+1:]
	base = strings.ToLower(base)
	switch {
	case strings.HasSuffix(base, ".gz"):
		base, c = strings.TrimSuffix(base, ".gz"), Gzip
	case strings.HasSuffix(base, ".zst"):
		base, c = strings.TrimSuffix(base, ".zst"), Zstd
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return JSONLines, c, true
	}
	switch base[dot:] {
	case ".jsonl", ".ndjson", ".json":
		return JSONLines, c, true
	}
	return JSONLines, c, false
}
