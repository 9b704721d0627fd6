package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
)

const maxArticles = 1000

// The codes of replies (RFC 3977).
const (
	newsMayPost    = 200
	newsMayNotPost = 201
	newsGroup      = 211
	newsList       = 215
	newsArticle    = 220
	newsOverview   = 224
	newsNoGroup    = 411
	newsNoNumber   = 423
	newsNoArticle  = 430
)

// news implements [plan.Step] for the schemes news, snews and nntp (RFC 5538). It returns an
// article, a list of articles or a list of groups.
func (j *retrieval) news(ctx context.Context, r plan.Request) (plan.Outcome, error) {
	if !isLine(r.Object+r.Send) || strings.ContainsAny(r.Object, " \t<>") {
		return plan.Outcome{}, j.refuse(r.URI, "the name of a group or article cannot contain white space or angle brackets", nil)
	}
	conn, err := j.connect(ctx, r.Host, r.Port)
	if err != nil {
		return plan.Outcome{}, err
	}
	if name, _ := r.URI.Scheme(); strings.EqualFold(name, "snews") || r.Port == "563" {
		conn = j.fetcher.encrypt(conn, r.Host)
	}
	o, err := newNewsSession(j, r, conn).perform()
	if err != nil {
		conn.Close()
		return plan.Outcome{}, err
	}
	return j.found(o)
}

func (f *Fetcher) encrypt(conn net.Conn, host string) net.Conn {
	config := f.o.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	return tls.Client(conn, config)
}

type newsSession struct {
	retrieval *retrieval
	request   plan.Request
	conn      net.Conn
	in        *bufio.Reader
}

func newNewsSession(j *retrieval, r plan.Request, conn net.Conn) *newsSession {
	return &newsSession{retrieval: j, request: r, conn: conn, in: bufio.NewReader(conn)}
}

func (n *newsSession) perform() (*Object, error) {
	if _, err := n.reply(newsMayPost, newsMayNotPost); err != nil {
		return nil, err
	}
	if _, err := n.ask("MODE READER"); err != nil { // some servers require this, and others do not know it
		return nil, err
	}
	r := n.request
	switch {
	case r.Type == "article" && r.Send != "":
		if _, err := n.ask("GROUP "+r.Object, newsGroup); err != nil {
			return nil, err
		}
		return n.stream("ARTICLE "+r.Send, typeArticle, newsArticle)
	case r.Type == "article":
		return n.stream("ARTICLE <"+r.Object+">", typeArticle, newsArticle)
	case r.Type == "group":
		return n.group(r.Object)
	case r.Object == "*":
		return n.stream("LIST ACTIVE", typeText, newsList)
	}
	return n.stream("LIST ACTIVE "+r.Object, typeText, newsList)
}

// Media types of news.
const (
	typeArticle  = "message/rfc822" // RFC 5536, section 2
	typeOverview = "text/tab-separated-values"
)

// group lists the latest articles of a group. Each line has the fields of RFC 3977, section 8.3:
// number, subject, author, date, message identifier, references, bytes and lines.
func (n *newsSession) group(name string) (*Object, error) {
	text, err := n.ask("GROUP "+name, newsGroup)
	if err != nil {
		return nil, err
	}
	var count, low, high int64
	if _, err := fmt.Sscan(text, &count, &low, &high); err != nil || low < 0 {
		return nil, n.garbled(fmt.Sprintf("invalid reply %.80q to GROUP", text), err)
	}
	if count == 0 || high < low {
		n.conn.Close()
		return &Object{Resource: nomen.Resource{Type: typeOverview, Body: io.NopCloser(strings.NewReader(""))}}, nil
	}
	span := fmt.Sprintf("%d-%d", max(low, high-maxArticles+1), high)
	o, err := n.stream("OVER "+span, typeOverview, newsOverview)
	if e, ok := err.(*StatusError); ok && e.Code >= 500 { // OVER was called XOVER before RFC 3977
		o, err = n.stream("XOVER "+span, typeOverview, newsOverview)
	}
	return o, err
}

// stream sends a command and returns an object with the lines that follow the reply.
func (n *newsSession) stream(command, mediatype string, want int) (*Object, error) {
	if _, err := n.ask(command, want); err != nil {
		return nil, err
	}
	in := newLines(n.in, true)
	in.strict, in.crlf = true, mediatype == typeArticle
	return &Object{Resource: nomen.Resource{Type: mediatype, Size: -1, Body: closing{in, n.conn.Close}}}, nil
}

func (n *newsSession) ask(command string, want ...int) (string, error) {
	n.retrieval.fetcher.tracef("%s: %s", n.request.Host, shown.Line(command))
	if _, err := io.WriteString(n.conn, command+"\r\n"); err != nil {
		return "", n.retrieval.failed(err)
	}
	return n.reply(want...)
}

// reply reads a reply. It returns a [*StatusError] if the code of the reply is not in want. An
// empty want accepts all codes.
func (n *newsSession) reply(want ...int) (string, error) {
	line, err := readLine(n.in)
	if err != nil {
		return "", n.garbled(noEOF(err).Error(), noEOF(err))
	}
	code, text, err := newsReply(line)
	if err != nil {
		return "", n.garbled(err.Error(), err)
	}
	if len(want) > 0 && !slices.Contains(want, code) {
		missing := code == newsNoGroup || code == newsNoNumber || code == newsNoArticle
		return text, &StatusError{URL: n.request.URI.Redacted(), Protocol: "NNTP", Code: code, Reason: shown.Line(text), Missing: missing}
	}
	return text, nil
}

func newsReply(line string) (code int, text string, err error) {
	number, text, _ := strings.Cut(line, " ")
	code, err = strconv.Atoi(number)
	if err != nil || len(number) != 3 || code < 100 || code > 599 {
		return 0, "", fmt.Errorf("invalid reply %.80q: must begin with a three-digit code", line)
	}
	return code, text, nil
}

func (n *newsSession) garbled(message string, err error) error {
	return &FormatError{URL: n.request.URI.Redacted(), Protocol: "NNTP", Message: message, Err: err}
}
