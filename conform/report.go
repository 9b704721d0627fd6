package conform

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// maxShown is the maximum number of bytes of a request or response in a report.
const maxShown = 2000

// escape converts the first maxShown bytes of b to printable ASCII. It escapes all other bytes, and
// the backslash, as in Go strings.
func escape(b []byte) string {
	var s strings.Builder
	for _, c := range b[:min(len(b), maxShown)] {
		switch {
		case c == '\r':
			s.WriteString(`\r`)
		case c == '\n':
			s.WriteString(`\n`)
		case c == '\t':
			s.WriteString(`\t`)
		case c == '\\':
			s.WriteString(`\\`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&s, `\x%02x`, c)
		default:
			s.WriteByte(c)
		}
	}
	return s.String()
}

// printable escapes text from the server for display. It does not escape quotation marks.
func printable(text string) string { return escape([]byte(text)) }

// MarshalJSON encodes the request and the response as printable ASCII with the escapes \r \n \t \\
// and \xNN. It truncates long requests and responses, and also writes their full lengths in bytes.
func (e Exchange) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Sent      string `json:"sent"`
		SentBytes int    `json:"sent_bytes"`
		Got       string `json:"got"`
		GotBytes  int    `json:"got_bytes"`
		Error     string `json:"error,omitempty"`
	}{escape(e.Sent), len(e.Sent), escape(e.Got), len(e.Got), printable(e.Err)})
}

// MarshalJSON implements [json.Marshaler].
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result // Result without this method
	r.Detail = printable(r.Detail)
	return json.Marshal(plain(r))
}

// WriteText writes the verdict, the ID of the case, the requirement and the reason as text. If the
// case failed or exchanges is true, it also writes the source of the requirement and the bytes that
// were sent and received.
func WriteText(w io.Writer, r Result, exchanges bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s  %s  %s\n", r.Verdict, r.ID, r.Words)
	if r.Detail != "" {
		fmt.Fprintf(&b, "    %s\n", printable(r.Detail))
	}
	if r.Verdict == Fail || exchanges {
		fmt.Fprintf(&b, "    %s; %s\n", r.Source, r.Force)
		for _, e := range r.Exchanges {
			dump(&b, ">", e.Sent)
			dump(&b, "<", e.Got)
			if e.Err != "" {
				fmt.Fprintf(&b, "    ! %s\n", printable(e.Err))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// dump writes data line by line. Each line begins with mark, and its line break is shown as an
// escape.
func dump(b *strings.Builder, mark string, data []byte) {
	for line := range strings.SplitAfterSeq(string(data[:min(len(data), maxShown)]), "\n") {
		if line != "" {
			fmt.Fprintf(b, "    %s %s\n", mark, printable(line))
		}
	}
	if more := len(data) - maxShown; more > 0 {
		fmt.Fprintf(b, "    %s ... and %d bytes more\n", mark, more)
	}
}

// A Count counts results by verdict.
type Count struct {
	Passed        int `json:"passed"`
	Failed        int `json:"failed"`
	NotApplicable int `json:"not_applicable"`
}

func (c *Count) Add(r Result) {
	switch r.Verdict {
	case Pass:
		c.Passed++
	case Fail:
		c.Failed++
	default:
		c.NotApplicable++
	}
}

func (c Count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d not applicable", c.Passed, c.Failed, c.NotApplicable)
}

// These types are the elements of JUnit XML.
type (
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
)

// WriteJUnit writes results as JUnit XML for continuous integration servers. Each profile is a test
// suite.
func WriteJUnit(w io.Writer, s Subject, results []Result) error {
	all := junitSuites{Name: "conformance of " + printable(s.Target)}
	var last *junitSuite
	for _, r := range results {
		if last == nil || last.Name != string(r.Profile) {
			last = &junitSuite{Name: string(r.Profile)}
			all.Suites = append(all.Suites, last)
		}
		c := junitCase{Class: string(r.Profile), Name: r.ID + ": " + r.Words}
		all.Tests, last.Tests = all.Tests+1, last.Tests+1
		switch r.Verdict {
		case Fail:
			var b strings.Builder
			_ = WriteText(&b, r, true)
			c.Failure = &junitMessage{printable(r.Detail), b.String()}
			all.Failures, last.Failures = all.Failures+1, last.Failures+1
		case NotApplicable:
			c.Skipped = &junitMessage{Message: printable(r.Detail)}
			last.Skipped++
		}
		last.Cases = append(last.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
