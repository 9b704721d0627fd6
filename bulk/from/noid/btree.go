package noid

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// These constants describe the layout of Berkeley DB files. Offsets are in bytes from the beginning
// of a page.
const (
	metaSize      = 92 // bytes of the first page that are needed
	offMagic      = 12
	offPageSize   = 20
	offEncryption = 24
	offMetaFlags  = 26
	offLastPage   = 32
	offFlags      = 48
	offRoot       = 88

	offNumber  = 8 // of a page
	offNext    = 16
	offEntries = 20
	offHeight  = 22 // in an overflow page, the number of bytes in it
	offLevel   = 24
	offType    = 25

	magicBtree = 0x053162
)

// These are the possible sizes of a page header. The index or the data of the page follow the
// header.
const (
	headPlain   = 26
	headChecked = 32
)

// The types of pages and items.
const (
	pageInternal = 3
	pageLeaf     = 5
	pageOverflow = 7

	itemData      = 1
	itemDuplicate = 2
	itemOverflow  = 3
	itemDeleted   = 0x80
)

// The flags of the first page.
const (
	metaChecked   = 0x01
	flagRecords   = 0x02 | 0x08 | 0x10 // record numbers instead of keys
	flagDatabases = 0x20
	flagPacked    = 0x80
)

const (
	minPage  = 512
	maxPage  = 64 << 10
	maxValue = 1 << 20 // maximum length of a key or value that is read, in bytes

	// maxShared limits the total size of the items on a page, as a multiple of the page size. The
	// total can exceed the page size, because all values of a key share the item of the key.
	maxShared = 64
)

// ErrNotDatabase reports that a file is not a Berkeley DB file.
var ErrNotDatabase = errors.New("not a Berkeley DB file")

// An UnsupportedError reports a kind of database that the package cannot read.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string {
	return e.What + " is not supported; want a database of type btree, or the output of 'db_dump -p'"
}

// A DamagedError reports that a file is inconsistent.
type DamagedError struct {
	Page   uint32
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the database is damaged: page %d: %s", e.Page, e.Reason)
}

// A pair is a key-value pair of the database.
type pair struct {
	at         int // number of the pair or of the line of the key, from 1
	column     int // of the key in its line; 0 if the file has no lines
	key, value []byte
	lost       string // why the value was not read, or ""
}

// A btree reads a Berkeley DB file with the access method btree.
type btree struct {
	in       io.ReaderAt
	order    binary.ByteOrder
	pageSize uint32
	head     uint32 // size of the head of a page
	pages    uint32 // number of pages
	root     uint32
	overflow uint32 // overflow pages read so far
}

// kinds returns the magic numbers of the other access methods of Berkeley DB.
func kinds() map[uint32]string {
	return map[uint32]string{
		0x061561: "a Berkeley DB file of type hash",
		0x042253: "a Berkeley DB file of type queue",
		0x074582: "a Berkeley DB file of type heap",
		0x040988: "a log of Berkeley DB",
	}
}

func openBtree(in io.ReaderAt, size int64) (*btree, error) {
	head := make([]byte, metaSize)
	if _, err := in.ReadAt(head, 0); err != nil {
		return nil, errors.Join(ErrNotDatabase, notEOF(err))
	}
	b := &btree{in: in}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		magic := order.Uint32(head[offMagic:])
		if magic == magicBtree {
			b.order = order
		}
		if what := kinds()[magic]; what != "" {
			return nil, &UnsupportedError{what}
		}
		if order.Uint32(head) == magicBtree {
			return nil, &UnsupportedError{"a Berkeley DB file of version 1"}
		}
	}
	if b.order == nil {
		return nil, ErrNotDatabase
	}
	return b, b.setUp(head, size)
}

func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (b *btree) setUp(head []byte, size int64) error {
	flags := b.order.Uint32(head[offFlags:])
	switch {
	case head[offEncryption] != 0:
		return &UnsupportedError{"an encrypted database"}
	case flags&flagDatabases != 0:
		return &UnsupportedError{"a file with several databases"}
	case flags&flagPacked != 0:
		return &UnsupportedError{"a compressed database"}
	case flags&flagRecords != 0:
		return &UnsupportedError{"a database of type recno"}
	case head[offMetaFlags]&^metaChecked != 0:
		return &UnsupportedError{"a partitioned database"}
	}
	b.pageSize, b.root, b.head = b.order.Uint32(head[offPageSize:]), b.order.Uint32(head[offRoot:]), headPlain
	if head[offMetaFlags]&metaChecked != 0 {
		b.head = headChecked
	}
	if b.pageSize < minPage || b.pageSize > maxPage || b.pageSize&(b.pageSize-1) != 0 {
		return &DamagedError{0, fmt.Sprintf("invalid page size %d", b.pageSize)}
	}
	last := b.order.Uint32(head[offLastPage:])
	if have := size / int64(b.pageSize); int64(last)+1 > have {
		return &DamagedError{0, fmt.Sprintf("the file has %d pages, want %d: it was not copied completely", have, int64(last)+1)}
	}
	b.pages = last + 1
	return nil
}

func (b *btree) page(number uint32, types ...byte) ([]byte, error) {
	if number == 0 || number >= b.pages {
		return nil, &DamagedError{number, "the page does not exist"}
	}
	p := make([]byte, b.pageSize)
	if _, err := b.in.ReadAt(p, int64(number)*int64(b.pageSize)); err != nil {
		return nil, fmt.Errorf("page %d: %w", number, err)
	}
	for _, t := range types {
		if p[offType] == t && b.order.Uint32(p[offNumber:]) == number {
			return p, nil
		}
	}
	return nil, &DamagedError{number, fmt.Sprintf("unexpected type %d or number", p[offType])}
}

// item returns the rest of a page from the beginning of an item. The result has at least size
// bytes.
func (b *btree) item(number uint32, p []byte, index, size int) ([]byte, error) {
	at := int(b.head) + 2*index
	if index >= int(b.order.Uint16(p[offEntries:])) || at+2 > len(p) {
		return nil, &DamagedError{number, "its index is too long"}
	}
	from := int(b.order.Uint16(p[at:]))
	if from < int(b.head) || from+size > len(p) {
		return nil, &DamagedError{number, "an item is outside the page"}
	}
	return p[from:], nil
}

func (b *btree) first() (uint32, error) {
	const itemSize, offPage, maxLevel = 12, 4, 255
	number, above := b.root, maxLevel+1
	for {
		p, err := b.page(number, pageInternal, pageLeaf)
		if err != nil || p[offType] == pageLeaf {
			return number, err
		}
		if int(p[offLevel]) >= above {
			return 0, &DamagedError{number, "its level is not below that of its parent"}
		}
		above = int(p[offLevel])
		item, err := b.item(number, p, 0, itemSize)
		if err != nil {
			return 0, err
		}
		number = b.order.Uint32(item[offPage:])
	}
}

func (b *btree) each(f func(pair) error) error {
	number, err := b.first()
	if err != nil {
		return err
	}
	n := 0
	for range b.pages {
		p, err := b.page(number, pageLeaf)
		if err != nil {
			return err
		}
		if err := b.leaf(number, p, &n, f); err != nil {
			return err
		}
		if number = b.order.Uint32(p[offNext:]); number == 0 {
			return nil
		}
	}
	return &DamagedError{number, "the pages form a loop"}
}

func (b *btree) leaf(number uint32, p []byte, n *int, f func(pair) error) error {
	entries := int(b.order.Uint16(p[offEntries:]))
	if entries%2 != 0 {
		return &DamagedError{number, "a key has no value"}
	}
	shared := 0
	for i := 0; i < entries; i += 2 {
		key, lostKey, err := b.data(number, p, i)
		if err != nil {
			return err
		}
		value, lost, err := b.data(number, p, i+1)
		if err != nil {
			return err
		}
		if shared += min(len(key), len(p)) + min(len(value), len(p)); shared > maxShared*len(p) {
			return &DamagedError{number, "its items overlap"}
		}
		if lost == deleted || lostKey == deleted {
			continue
		}
		*n++
		if lostKey != "" {
			lost = "of the key: " + lostKey
		}
		if err := f(pair{at: *n, key: key, value: value, lost: lost}); err != nil {
			return err
		}
	}
	return nil
}

// deleted is the value of lost for a pair that has been deleted.
const deleted = "deleted"

// data returns the content of an item in a leaf page. If the content cannot be read, lost is the
// reason.
func (b *btree) data(number uint32, p []byte, index int) (data []byte, lost string, err error) {
	const head, overflowSize, offPage, offLength = 3, 12, 4, 8
	item, err := b.item(number, p, index, head)
	if err != nil {
		return nil, "", err
	}
	switch item[2] {
	case itemData:
		size := int(b.order.Uint16(item))
		if head+size > len(item) {
			return nil, "", &DamagedError{number, "an item is outside the page"}
		}
		return item[head : head+size], "", nil
	case itemOverflow:
		if len(item) < overflowSize {
			return nil, "", &DamagedError{number, "an item is outside the page"}
		}
		return b.long(b.order.Uint32(item[offPage:]), b.order.Uint32(item[offLength:]))
	case itemDuplicate:
		return nil, "it has more values than fit on a page; import the output of 'db_dump -p' instead", nil
	}
	if item[2]&itemDeleted != 0 {
		return nil, deleted, nil
	}
	return nil, "", &DamagedError{number, fmt.Sprintf("an item has the unknown type %d", item[2])}
}

// long returns the content of an item that is stored in overflow pages. An overflow page belongs to
// a single item, so the number of pages in the file limits the total number of overflow pages.
func (b *btree) long(number, size uint32) (data []byte, lost string, err error) {
	if size > maxValue {
		return nil, fmt.Sprintf("it has %d bytes, more than the limit of %d", size, maxValue), nil
	}
	for number != 0 {
		if b.overflow++; b.overflow > b.pages {
			return nil, "", &DamagedError{number, "the pages of a long item form a loop"}
		}
		p, err := b.page(number, pageOverflow)
		if err != nil {
			return nil, "", err
		}
		part := uint32(b.order.Uint16(p[offHeight:]))
		if part == 0 || b.head+part > b.pageSize || uint32(len(data))+part > size {
			return nil, "", &DamagedError{number, "a long item has another length than its pages"}
		}
		data = append(data, p[b.head:b.head+part]...)
		number = b.order.Uint32(p[offNext:])
	}
	if uint32(len(data)) != size {
		return nil, "", &DamagedError{number, "a long item has another length than its pages"}
	}
	return data, "", nil
}
