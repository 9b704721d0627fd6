package tlog

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits of tiles (tlog-tiles).
const (
	TileWidth   = 256                     // number of hashes in a full tile, and of entries in a full bundle
	MaxTile     = TileWidth * sha256.Size // length of a full tile of hashes, in bytes
	MaxEntry    = math.MaxUint16          // length of an entry, in bytes
	MaxBundle   = TileWidth * (2 + MaxEntry)
	maxTilePath = 64
	tileHeight  = 8 // number of levels of the tree in a tile
	maxLevel    = 63 / tileHeight
)

// EntriesLevel is the Level of bundles, which contain entries instead of hashes.
const EntriesLevel = -1

// A Tile identifies a file of a published log. The file contains consecutive hashes of a level of
// the tree, or a bundle of entries.
type Tile struct {
	Level int    // 0 for the hashes of entries, 1 for the roots of full tiles of level 0, and so on; EntriesLevel for a bundle
	N     uint64 // number of the tile in its level, from 0
	Width int    // number of hashes or entries, from 1 to TileWidth
}

// String returns [Tile.Path].
func (t Tile) String() string { return t.Path() }

// Path returns the path of the tile relative to the URL of the log, such as
// "tile/0/x001/x234/067.p/12", or "tile/entries/005" for a bundle.
func (t Tile) Path() string {
	b := []byte("tile/")
	if t.Level == EntriesLevel {
		b = append(b, "entries"...)
	} else {
		b = strconv.AppendInt(b, int64(t.Level), 10)
	}
	digits := strconv.FormatUint(t.N, 10)
	digits = strings.Repeat("0", (3-len(digits)%3)%3) + digits
	for ; len(digits) > 3; digits = digits[3:] {
		b = append(append(b, "/x"...), digits[:3]...)
	}
	b = append(append(b, '/'), digits...)
	if t.Width != TileWidth {
		b = strconv.AppendInt(append(b, ".p/"...), int64(t.Width), 10)
	}
	return string(b)
}

// ParseTilePath parses a path. It accepts only the form that [Tile.Path] returns.
func ParseTilePath(path string) (Tile, error) {
	fault := func(off int, rule string) error {
		return &FormatError{Format: "path", Offset: off, Rule: rule + " (tlog-tiles, Merkle Tree)"}
	}
	const prefix = "tile/"
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok || len(path) > maxTilePath {
		return Tile{}, fault(0, "the path of a tile must have the form tile/LEVEL/NUMBER")
	}
	t := Tile{Level: EntriesLevel, Width: TileWidth}
	level, rest, _ := strings.Cut(rest, "/")
	if level != "entries" {
		n, rule := parseSize(level)
		if rule == "" && n > maxLevel {
			rule = fmt.Sprintf("no log has tiles above level %d", maxLevel)
		}
		if rule != "" {
			return Tile{}, fault(len(prefix), "level: "+rule)
		}
		t.Level = int(n)
	}
	if number, width, partial := strings.Cut(rest, ".p/"); partial {
		n, rule := parseSize(width)
		if rule == "" && (n == 0 || n >= TileWidth) {
			rule = "the width must be from 1 to 255"
		}
		if rule != "" {
			return Tile{}, fault(len(path)-len(width), "width: "+rule)
		}
		t.Width, rest = int(n), number
	}
	var err string
	if t.N, err = parseNumber(rest); err != "" {
		return Tile{}, fault(strings.LastIndex(path, rest), "number: "+err)
	}
	if t.N > (math.MaxInt64-TileWidth)>>(tileHeight*(max(t.Level, 0)+1)) {
		return Tile{}, fault(strings.LastIndex(path, rest), "number: no log is so large")
	}
	return t, nil
}

func parseNumber(s string) (n uint64, rule string) {
	const groups = "the number must be in groups of three digits, all but the last with an x before them"
	for first := true; ; first = false {
		group, rest, more := strings.Cut(s, "/")
		if more {
			var ok bool
			if group, ok = strings.CutPrefix(group, "x"); !ok || first && group == "000" {
				return 0, groups
			}
		}
		if len(group) != 3 || strings.Trim(group, "0123456789") != "" {
			return 0, groups
		}
		g, _ := strconv.ParseUint(group, 10, 64)
		if n > (math.MaxInt64-g)/1000 {
			return 0, "no log is so large"
		}
		n = n*1000 + g
		if !more {
			return n, ""
		}
		s = rest
	}
}

// first returns the number of entries before the tile. It also returns the binary logarithm of the
// number of entries below each hash of the tile.
func (t Tile) first() (before uint64, shift int) {
	shift = tileHeight * max(t.Level, 0)
	return t.N << tileHeight << shift, shift
}

// In reports whether a log of the given size has the tile with at least this width. The hashes of a
// tile never change, so a log that has a tile also has each narrower tile.
func (t Tile) In(size uint64) bool { return t.Width <= WidthOf(t.Level, t.N, size) }

// WidthOf returns the width of a tile in a log of the given size. This is the number of hashes or
// entries, from 0 to TileWidth.
func WidthOf(level int, n, size uint64) int {
	before, shift := Tile{Level: level, N: n}.first()
	if n > math.MaxInt64>>tileHeight>>shift || size <= before {
		return 0
	}
	return int(min((size-before)>>shift, TileWidth))
}

// Tiles yields all tiles of a log of the given size, by level: first the bundles if entries is
// true, then the tiles of hashes. The last tile of each level may be partial.
func Tiles(size uint64, entries bool) func(yield func(Tile) bool) {
	return func(yield func(Tile) bool) {
		level := 0
		if entries {
			level = EntriesLevel
		}
		for ; level <= maxLevel; level++ {
			for n := uint64(0); ; n++ {
				w := WidthOf(level, n, size)
				if w == 0 {
					break
				}
				if !yield(Tile{Level: level, N: n, Width: w}) {
					return
				}
			}
		}
	}
}
