package fetch

import (
	"context"
	"io"
	"net"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
)

func (j *retrieval) whois(ctx context.Context, r plan.Request) (plan.Outcome, error) {
	conn, err := j.say(ctx, r, r.Send)
	if err != nil {
		return plan.Outcome{}, err
	}
	o := &Object{Resource: nomen.Resource{Type: r.Format, Size: -1, Body: closing{newLines(conn, false), conn.Close}}}
	return j.found(o)
}

func (j *retrieval) say(ctx context.Context, r plan.Request, line string) (net.Conn, error) {
	if !isLine(line) {
		return nil, j.refuse(r.URI, "the query cannot contain a line break", nil)
	}
	conn, err := j.connect(ctx, r.Host, r.Port)
	if err != nil {
		return nil, err
	}
	j.fetcher.tracef("%s: %s", r.Host, shown.Line(line))
	if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
		conn.Close()
		return nil, j.failed(err)
	}
	return conn, nil
}
