package tlog

import (
	"encoding/binary"
	"fmt"
)

// AppendEntry appends an entry to a bundle. It returns an error if the entry is longer than
// [MaxEntry].
func AppendEntry(bundle, entry []byte) ([]byte, error) {
	if len(entry) > MaxEntry {
		return bundle, fmt.Errorf("an entry has %d bytes; a bundle can have entries of at most %d bytes", len(entry), MaxEntry)
	}
	bundle = binary.BigEndian.AppendUint16(bundle, uint16(len(entry)))
	return append(bundle, entry...), nil
}

// ParseBundle returns the entries of a bundle. The width of the tile is the number of entries. The
// entries share the memory of the bundle.
func ParseBundle(bundle []byte, width int) ([][]byte, error) {
	if width < 0 || width > TileWidth {
		return nil, &FormatError{Format: "bundle", Rule: "a bundle must have at most 256 entries"}
	}
	entries := make([][]byte, 0, width)
	rest := bundle
	fault := func(rule string) error {
		return &FormatError{Format: "bundle", Offset: len(bundle) - len(rest), Rule: rule + " (tlog-tiles, Log entries)"}
	}
	for range width {
		if len(rest) < 2 {
			return nil, fault(fmt.Sprintf("the bundle ends after %d of %d entries", len(entries), width))
		}
		size := int(binary.BigEndian.Uint16(rest))
		if len(rest)-2 < size {
			return nil, fault(fmt.Sprintf("the bundle ends inside entry %d", len(entries)))
		}
		entries = append(entries, rest[2:2+size:2+size])
		rest = rest[2+size:]
	}
	if len(rest) > 0 {
		return nil, fault(fmt.Sprintf("the bundle has more than %d entries", width))
	}
	return entries, nil
}
