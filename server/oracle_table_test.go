package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// namesOfTHTTP are the services of RFC 2169 for URNs.
var namesOfTHTTP = map[string]string{
	"I2L": "N2L", "I2Ls": "N2Ls", "I2R": "N2R", "I2Rs": "N2Rs", "I2C": "N2C", "I2Ns": "N2Ns", unknownService: "N2X",
}

// cells returns the questions that can be asked in a form.
func cells(f manner) (all []cell) {
	for _, r := range rows() {
		host, _, dns := r.host()
		if (f.bare || f.element) && (!dns || f.element && host == "unserved.example") {
			continue // its authority cannot be expressed
		}
		for _, s := range services {
			switch {
			case f.simple && s != "":
				continue
			case f.n && namesOfTHTTP[s] == "", f.thttp && s == "":
				continue
			}
			for _, a := range accepts {
				if f.simple && a != "" {
					continue
				}
				c := cell{form: f, row: r, service: s, accept: a}
				if s == "I=I" { // another spelling of the same
					scheme, nss, _ := strings.Cut(r.name[len("urn:"):], ":")
					c.other = "URN:" + strings.ToUpper(scheme) + ":" + nss
				}
				all = append(all, c)
			}
		}
	}
	return all
}

func (c cell) String() string {
	return fmt.Sprintf("{%s; %s; service %q; Accept %q}", c.form.id, c.row.id, c.service, c.accept)
}

// target returns the request target and the Host field.
func (c cell) target() (target, host string) {
	authority, element, _ := c.row.host()
	switch f := c.form; {
	case f.bare:
		target, host = element, authority
	case f.simple && authority == "names.example":
		return element, "" // the default authority
	case f.n:
		return "/uri-res/" + namesOfTHTTP[c.service] + "?" + c.row.name, "names.test"
	case f.thttp: // 2483, 2.1: mnemonics are case-insensitive; C3: so is the path
		target = "/Uri-Res/" + strings.ToLower(c.service) + "?" + c.row.name
		if c.other != "" {
			target += "&" + c.other
		}
		return target, "names.test"
	case f.element:
		target, host = "/"+element, authority
	case f.y95:
		target = c.row.name
	case f.absolute:
		target, host = "http://names.example/"+c.row.name, "names.example"
	default:
		target, host = "/"+c.row.name, "names.test"
	}
	if c.service != "" {
		target += "?s=" + c.service
	}
	if c.other != "" {
		target += "&with=" + c.other
	}
	return target, host
}

// request returns the bytes of a request.
func (c cell) request(method string, fields ...string) outgoing {
	target, host := c.target()
	if c.form.simple {
		return outgoing{text: "GET " + target + "\r\n"}
	}
	var b strings.Builder
	version := "HTTP/1.1"
	if c.form.old {
		version = "HTTP/1.0"
		fields = append(fields, "Connection: keep-alive")
	}
	fmt.Fprintf(&b, "%s %s %s\r\n", method, target, version)
	if host != "" {
		fields = append(fields, "Host: "+host)
	}
	if c.accept != "" {
		fields = append(fields, "Accept: "+c.accept)
	}
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	b.WriteString("\r\n")
	return outgoing{method, b.String()}
}

type outgoing struct{ method, text string }

// An answer is one response as received.
type answer struct {
	status int
	reason string
	header http.Header
	body   string
}

// A sender sends many requests, over one connection after another.
type sender struct {
	addr net.Addr
	c    net.Conn
	in   *bufio.Reader
}

const pipelined = 64

// ask returns the responses in the order of the requests.
func (k *sender) ask(t testing.TB, requests []outgoing) []answer {
	t.Helper()
	answers := make([]answer, 0, len(requests))
	for len(answers) < len(requests) {
		rest := requests[len(answers):]
		got, err := k.some(rest[:min(pipelined, len(rest))])
		if len(got) == 0 {
			t.Fatalf("no answer to %q: %v", rest[0].text, err)
		}
		answers = append(answers, got...)
	}
	return answers
}

// some sends requests until the server closes the connection.
func (k *sender) some(requests []outgoing) (answers []answer, err error) {
	if k.c == nil {
		if k.c, err = net.Dial("tcp", k.addr.String()); err != nil {
			return nil, err
		}
		k.in = bufio.NewReader(k.c)
	}
	k.c.SetDeadline(time.Now().Add(time.Minute))
	var all bytes.Buffer
	for _, r := range requests {
		all.WriteString(r.text)
	}
	c := k.c
	go c.Write(all.Bytes()) // fails when the server closes, which the reader detects
	for _, r := range requests {
		a, last, err := readAnswer(k.in, r.method)
		if err == nil {
			answers = append(answers, a)
		}
		if last || err != nil {
			k.close()
			return answers, err
		}
	}
	return answers, nil
}

func (k *sender) close() {
	if k.c != nil {
		k.c.Close()
		k.c = nil
	}
}

func readAnswer(in *bufio.Reader, method string) (a answer, last bool, err error) {
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return a, true, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	_, reason, _ := strings.Cut(resp.Status, " ")
	return answer{resp.StatusCode, reason, resp.Header, string(body)}, resp.Close, err
}

// faults are the differences found, with their cells.
type faults struct {
	mu  sync.Mutex
	all map[string][]string
}

func (f *faults) add(c cell, texts ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range texts {
		f.all[s] = append(f.all[s], c.String())
	}
}

func (f *faults) report(t *testing.T) {
	for _, s := range slices.Sorted(maps.Keys(f.all)) {
		where := f.all[s]
		t.Errorf("%s\n\tin %d cells, such as %s", s, len(where), strings.Join(where[:min(4, len(where))], "\n\t"))
	}
}

// TestOracle sends every question of the table over sockets and compares the response
// with the documents; then again with HEAD, a second time, and with a precondition.
func TestOracle(t *testing.T) { askTable(t, 1) }

// TestOracleSome sends some of these questions. It is for the race detector, with which the whole
// table takes minutes.
func TestOracleSome(t *testing.T) { askTable(t, 13) }

// askTable asks every nth question of the table.
func askTable(t *testing.T, n int) {
	t.Helper()
	world := newWorld(t)
	found := faults{all: map[string][]string{}}
	var count atomic.Int64
	t.Run("forms", func(t *testing.T) {
		for _, f := range manners {
			t.Run(f.id, func(t *testing.T) {
				t.Parallel()
				var all []cell
				for i, c := range cells(f) {
					if i%n == 0 {
						all = append(all, c)
					}
				}
				count.Add(int64(len(all)))
				if f.simple {
					askSimply(t, world, all, &found)
					return
				}
				k := &sender{addr: world.Public}
				defer k.close()
				for part := range slices.Chunk(all, 256) {
					askAll(t, k, part, &found)
				}
			})
		}
	})
	t.Logf("%d cells", count.Load())
	found.report(t)
}

// askAll asks the questions of some cells and compares the responses with the oracle and
// with those to related questions.
func askAll(t *testing.T, k *sender, all []cell, found *faults) {
	t.Helper()
	var first, again []outgoing
	for _, c := range all {
		first = append(first, c.request("GET"))
	}
	answers := k.ask(t, first)
	for i, c := range all {
		found.add(c, expect(c).check(c, answers[i])...)
		for _, q := range allKin {
			again = append(again, q.request(c, i, answers[i]))
		}
	}
	answersAgain := k.ask(t, again)
	for i, c := range all {
		for _, q := range allKin {
			found.add(c, q.wrong(i, answers[i], answersAgain[0])...)
			answersAgain = answersAgain[1:]
		}
	}
}

// A kin is a question whose answer follows from that to another.
type kin struct {
	request func(c cell, i int, plain answer) outgoing
	wrong   func(i int, plain, got answer) []string
}

var allKin = []kin{
	{
		func(c cell, _ int, _ answer) outgoing { return c.request("HEAD") },
		func(_ int, plain, got answer) []string { return sameHead(plain, got) },
	},
	{
		func(c cell, _ int, _ answer) outgoing { return c.request("GET") },
		func(_ int, plain, got answer) []string { return same(plain, got) },
	},
	{
		func(c cell, i int, plain answer) outgoing { return c.request("GET", precondition(i, plain)) },
		afterCondition,
	},
}

// askSimply compares the responses to simple requests with the bodies of those to full
// ones (Y95-32).
func askSimply(t *testing.T, world *Listening, all []cell, found *faults) {
	t.Helper()
	k := &sender{addr: world.Public}
	defer k.close()
	for _, c := range all {
		simple := exchange(t, world.Public, c.request("GET").text)
		full := c
		full.form.simple, full.form.old = false, true
		if target, _ := c.target(); !strings.HasPrefix(target, "urn:") {
			full.form.bare = true
		}
		want := k.ask(t, []outgoing{full.request("GET")})[0]
		if simple != want.body {
			found.add(c, fmt.Sprintf("the body %.60q is not that of the full request, %.60q", simple, want.body))
		}
	}
}

// precondition returns a precondition that fails for a page about a name with an entity
// tag; for other responses it returns one that must be ignored.
func precondition(i int, got answer) string {
	tag, date := got.header.Get("ETag"), got.header.Get("Last-Modified")
	if got.status != http.StatusOK || tag == "" {
		return []string{"If-None-Match: *", "If-Modified-Since: " + got.header.Get("Date"), `If-Match: "x"`}[i%3]
	}
	if date == "" {
		i = 0
	}
	switch i % 4 {
	case 0:
		return "If-None-Match: " + tag
	case 1:
		return "If-None-Match: W/" + tag // 9110, 13.1.2: compared weakly
	case 2:
		return `If-None-Match: "x", ` + tag
	}
	return "If-Modified-Since: " + date
}

// afterCondition checks the response to a request with a precondition.
func afterCondition(i int, plain, got answer) (wrong []string) {
	field, _, _ := strings.Cut(precondition(i, plain), ":")
	if plain.status != http.StatusOK { // 9110, 13.2.1
		if got.status != plain.status || got.body != plain.body {
			return []string{fmt.Sprintf("%s turns %d into %d", field, plain.status, got.status)}
		}
		return nil
	}
	if plain.header.Get("ETag") == "" {
		return nil // the resource is not this server's (S, Resources)
	}
	if got.status != http.StatusNotModified {
		return []string{fmt.Sprintf("%s gives %d", field, got.status)}
	}
	if got.body != "" || got.header.Get("Content-Length") != "" && got.header.Get("Content-Length") != strconv.Itoa(len(plain.body)) {
		wrong = append(wrong, "304 with a body, or the wrong length of one")
	}
	for _, f := range []string{"ETag", "Cache-Control", "Vary", "Content-Location", "Expires"} { // 9110, 15.4.5
		if g, w := got.header.Get(f), plain.header.Get(f); g != w {
			wrong = append(wrong, fmt.Sprintf("304 with %s %q, 200 has %q", f, g, w))
		}
	}
	if got.header.Get("Date") == "" {
		wrong = append(wrong, "304 without Date")
	}
	return wrong
}

// sameHead checks the response to HEAD (9110, 9.3.2).
func sameHead(get, head answer) (wrong []string) {
	if head.body != "" {
		wrong = append(wrong, "HEAD has a body")
	}
	if head.header.Get("Content-Length") == "" {
		get.header = get.header.Clone()
		get.header.Del("Content-Length") // 9110, 8.6: MAY
	}
	get.body = ""
	head.body = ""
	for _, w := range same(get, head) {
		wrong = append(wrong, "HEAD: "+w)
	}
	return wrong
}

// same compares two responses to one question (Y95-27). Multipart boundaries differ each
// time, so that content cannot contain them.
func same(a, b answer) (wrong []string) {
	a, b = a.withoutBoundary(), b.withoutBoundary()
	if a.status != b.status || a.reason != b.reason {
		wrong = append(wrong, fmt.Sprintf("%d %s, the second time %d %s", a.status, a.reason, b.status, b.reason))
	}
	if a.body != b.body {
		wrong = append(wrong, "another body the second time")
	}
	for _, h := range []http.Header{a.header, b.header} {
		h.Del("Date")
	}
	for f := range a.header {
		if g, w := b.header[f], a.header[f]; !slices.Equal(g, w) {
			wrong = append(wrong, fmt.Sprintf("%s is %q, the second time %q", f, w, g))
		}
	}
	for f := range b.header {
		if _, ok := a.header[f]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s the second time", f))
		}
	}
	return wrong
}

func (a answer) withoutBoundary() answer {
	_, boundary, ok := strings.Cut(a.header.Get("Content-Type"), "boundary=")
	if ok {
		a.header = a.header.Clone()
		a.header.Del("Content-Type")
		a.body = strings.ReplaceAll(a.body, strings.Trim(boundary, `"`), "")
	}
	return a
}
