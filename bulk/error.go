package bulk

import "fmt"

// A LineError reports a line that is not a valid record, or an invalid header line.
type LineError struct {
	Sheet   string // sheet of a workbook, or ""
	Line    int    // from 1; in a workbook, the number of the row
	Column  int    // in bytes, from 1; in a workbook, the number of the column
	Offset  int64  // in bytes, from 0, after decompression
	Name    string // name of the record, if the name could be read
	Field   string // such as "locations[2].url", or the title of a column; "" if unknown
	Message string // for people

	size  int64 // length of a line that is too long
	lines []keptLine
}

func (e *LineError) kept() (n int) {
	for _, l := range e.lines {
		n += len(l.text)
	}
	return n
}

func (e *LineError) Error() string {
	at := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	if e.Sheet != "" {
		at = Place(e.Sheet, e.Line, e.Column)
	}
	if e.Field == "" {
		return at + ": " + e.Message
	}
	return at + ": " + e.Field + ": " + e.Message
}

// A BrokenError reports that the input ended too early or could not be read. All records before
// Line have been read.
type BrokenError struct {
	Line int // line at which the input ended, from 1
	Err  error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("input truncated in line %d: %v; the records before it were read", e.Line, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }
