package bulk

import (
	"slices"
	"strings"
)

// A Format is a file format of records.
type Format uint8

// The formats. Only JSONLines, CSV, TSV and XLSX can be read. All formats except XLSX can be
// written. The other formats contain only a part of each record.
const (
	JSONLines Format = iota // the default
	CSV
	TSV
	NginxMap
	ApacheMap
	URIList
	EZIDCSV
	HandleBatch
	Htaccess
	OBOYAML
	CaddyMap
	XLSX
)

// formats lists for each format its name, its media type, and its file name suffixes.
var formats = [...]struct {
	name, mediaType string
	suffixes        []string
}{
	JSONLines: {"jsonl", "application/jsonl", []string{".jsonl", ".ndjson", ".json"}},
	CSV:       {"csv", "text/csv; charset=utf-8; header=present", []string{".csv"}}, // RFC 4180, 3
	TSV:       {"tsv", "text/tab-separated-values; charset=utf-8", []string{".tsv", ".tab"}},
	NginxMap:  {"nginx-map", "text/plain; charset=utf-8", nil},
	ApacheMap: {"apache-map", "text/plain; charset=utf-8", nil},
	EZIDCSV:   {"ezid-csv", "text/csv; charset=utf-8; header=present", nil},
	URIList:   {"uri-list", "text/uri-list", []string{".uris"}}, // RFC 2483, 5

	HandleBatch: {"handle-batch", "text/plain; charset=utf-8", nil},
	Htaccess:    {"htaccess", "text/plain; charset=utf-8", nil},
	OBOYAML:     {"obo-yaml", "application/yaml", nil},
	CaddyMap:    {"caddy", "text/plain; charset=utf-8", nil},
	XLSX:        {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []string{".xlsx", ".xlsm"}},
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{JSONLines, CSV, TSV, NginxMap, ApacheMap, URIList, EZIDCSV, HandleBatch, Htaccess, OBOYAML, CaddyMap, XLSX}
}

// ParseFormat returns the format with the name s. The names are those that [Format.String] returns.
// The command line and the admin API use the same names.
func ParseFormat(s string) (Format, bool) {
	for f, known := range formats {
		if s == known.name {
			return Format(f), true
		}
	}
	return JSONLines, false
}

// String returns the name of the format.
func (f Format) String() string {
	if int(f) >= len(formats) {
		return "unknown"
	}
	return formats[f].name
}

// MediaType returns the media type of the format.
func (f Format) MediaType() string { return formats[f].mediaType }

// Readable reports whether records can be read from the format.
func (f Format) Readable() bool { return f <= TSV || f == XLSX }

// Writable reports whether records can be written in the format.
func (f Format) Writable() bool { return f != XLSX }

// A Compression is a compression of a file.
type Compression uint8

// The compressions.
const (
	Auto Compression = iota // reading: detected from the first bytes; writing: none
	Plain
	Gzip
	Zstd
)

// Suffixes determines the format and compression from the suffixes of a file name. It returns false
// if a suffix is unknown. "-" and names without a suffix mean JSON Lines.
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
	for f, known := range formats {
		if slices.Contains(known.suffixes, base[dot:]) {
			return Format(f), c, true
		}
	}
	return JSONLines, c, false
}
