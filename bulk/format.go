package bulk

import "strings"

// A Format is a file format of records.
type Format uint8

// The formats. Those after TSV cannot be read, because they contain only part of a record.
const (
	JSONLines Format = iota // the default
	CSV
	TSV
	NginxMap
	ApacheMap
	URIList
)

// Formats returns all formats.
func Formats() []Format { return []Format{JSONLines, CSV, TSV, NginxMap, ApacheMap, URIList} }

// ParseFormat returns the format with the name s, as on the command line and in the admin
// API; see [Format.String].
func ParseFormat(s string) (Format, bool) {
	for _, f := range Formats() {
		if s == f.String() {
			return f, true
		}
	}
	return JSONLines, false
}

// String returns the name of the format.
func (f Format) String() string {
	switch f {
	case JSONLines:
		return "jsonl"
	case CSV:
		return "csv"
	case TSV:
		return "tsv"
	case NginxMap:
		return "nginx-map"
	case ApacheMap:
		return "apache-map"
	case URIList:
		return "uri-list"
	}
	return "unknown"
}

// MediaType returns the media type of a file of the format.
func (f Format) MediaType() string {
	switch f {
	case JSONLines:
		return "application/jsonl"
	case CSV:
		return "text/csv; charset=utf-8; header=present" // RFC 4180, 3
	case TSV:
		return "text/tab-separated-values; charset=utf-8"
	case URIList:
		return "text/uri-list" // RFC 2483, 5
	}
	return "text/plain; charset=utf-8"
}

// Readable reports whether records can be read from the format.
func (f Format) Readable() bool { return f <= TSV }

// A Compression is a compression of a file.
type Compression uint8

// The compressions.
const (
	Auto Compression = iota // reading: detected from the first bytes; writing: none
	Plain
	Gzip
	Zstd
)

// Suffixes returns the format and compression for the name of a file; ok is false if the
// suffix is unknown. "-" and names without a suffix mean JSON Lines.
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
	case ".csv":
		return CSV, c, true
	case ".tsv", ".tab":
		return TSV, c, true
	case ".uris":
		return URIList, c, true
	}
	return JSONLines, c, false
}
