package server

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/store"
)

// A shortcut answers the first requests on a connection without net/http, as long as these are
// simple requests for names whose answers are available at once. The bytes of the responses are
// exactly those that net/http would send.
type shortcut struct {
	server   *Server
	listener string // the name of the listener
	from     netip.Addr
	local    netip.AddrPort
	ctx      store.Staleness // context of the current request, which includes the client
	depends  store.Dependencies
	request  request
	client   counts.Client
}

// short returns the shortcut for a connection to a listener. It returns nil if the listener does
// not serve paths, or if a dialect may answer them.
func (s *Server) short(o *Listener, local, remote net.Addr) wire.Answerer {
	if !o.Protocols.has(ProtocolWeb) || len(o.Dialects) > 0 {
		return nil
	}
	c := &shortcut{listener: o.Name, from: addrOf(remote).Addr(), local: addrOf(local)}
	c.ctx.Dependencies = &c.depends
	c.use(s.current.Load())
	return c.answer
}

// use sets the server for the next requests on the connection.
func (c *shortcut) use(s *Server) {
	c.server = s
	c.ctx.Context = gateway.WithClient(context.Background(), &gateway.Client{Addr: c.from, Many: s.isShared(c.from)})
}

// answer appends the response to the request q to dst. It returns false if net/http must answer,
// because the request is not simple or may take long. Only net/http notices when a client
// disconnects.
func (c *shortcut) answer(dst []byte, q wire.Plain) ([]byte, bool) {
	s := c.server.use()
	defer s.users.done()
	if s != c.server {
		c.use(s)
	}
	if s.middleware != nil { // the middleware must see all requests, and only net/http calls it
		return dst, false
	}
	if s.health.Closing() || len(q.Target) > maxTarget || !mayBeLocal(q.Target) {
		return dst, false
	}
	defer requestlog.Panic(s.log)
	start := s.now()
	target, mount := s.belowPublic(q.Target)
	c.request = request{
		method: q.Method, target: target, mount: mount, version: versionOf(q), host: q.Host, local: c.local,
		accept: q.Accept, languages: q.Languages, encodings: q.Coding, agent: q.Agent, from: c.from,
	}
	c.request.country = s.countryOf(c.from, "")
	r := &c.request
	c.client.Set(c.from, q.Agent)
	ctx := &c.ctx
	ctx.Reset()
	l, known, found := s.lookUp(ctx, r)
	if found {
		out, sent := known.AppendTo(dst, s.dates.of(start), q.Final)
		s.countRepeated(&c.client, &known, start)
		c.record(&q, form(known.Form), known.Status, sent, start)
		return out, true
	}
	asked, err := s.parse(ctx, r)
	if err != nil || asked.err != nil || !s.isLocal(asked.target) {
		return dst, false
	}
	p := s.forPeople(r, s.answerAsked(ctx, r, asked))
	s.addAge(p, ctx.Age(start))
	s.finish(p, start)
	begin := len(dst)
	dst, sent, ok := p.appendTo(dst, q)
	p.drop()
	if !ok {
		return dst, false
	}
	s.keep(l, ctx, p, start, dst[begin:])
	s.countReply(&c.client, p, start)
	c.record(&q, p.form, p.status, sent, start)
	return dst, true
}

// record counts and logs a request that was answered.
func (c *shortcut) record(q *wire.Plain, f form, status, sent int, start time.Time) {
	s := c.server
	took := s.now().Sub(start)
	s.metrics.Observe(f.String(), status, took)
	if s.access != nil {
		requestlog.Record{Listener: c.listener, From: c.from, Method: q.Method, Target: q.Target, Proto: protoOf(*q), Host: q.Host, Agent: q.Agent}.Log(&c.ctx, s.access, status, int64(sent), took)
	}
}

// mayBeLocal reports whether isLocal may be true for a target, without parsing it. Such a target
// begins with a slash, and is neither a service nor a page.
func mayBeLocal(target string) bool {
	path, ok := strings.CutPrefix(target, "/")
	return ok && !isPage(path) && !ascii.HasPrefix(path, thttpPath)
}

// isLocal reports whether the answer for a target comes from the store alone. Such an answer is not
// a stream, and no other servers are asked for it.
func (a parsedTarget) isLocal() bool {
	if a.form != formWeb || a.reserved != "" || a.name.IsZero() || !a.whole.IsZero() || a.byLocation {
		return false
	}
	if a.authority != nil && a.authority.Delegation != nil || !a.query.at.IsZero() {
		return false
	}
	service := a.interpreted().service
	return service != nomen.I2R && service != nomen.I2Rs
}

func versionOf(q wire.Plain) version {
	if q.Old {
		return version{1, 0}
	}
	return version{1, 1}
}

func protoOf(q wire.Plain) string {
	if q.Old {
		return "HTTP/1.0"
	}
	return "HTTP/1.1"
}

// appendTo appends the response to q, as net/http writes it, and returns the length of the body. It
// returns false if this is not possible, for example because the body is a stream.
func (p *reply) appendTo(out []byte, q wire.Plain) ([]byte, int, bool) {
	if p.stream != nil || len(p.body) > 0 && !p.has("Content-Type") || p.has("Connection") {
		return out, 0, false
	}
	begin, body := len(out), p.body
	if q.Method == http.MethodHead || p.status == http.StatusNotModified {
		body = nil
	}
	out = append(append(out, protoOf(q)...), ' ')
	out = strconv.AppendInt(out, int64(p.status), 10)
	out = append(out, ' ')
	reason := cmp.Or(wire.Reason(p.reason), http.StatusText(p.status))
	if reason == "" {
		return out[:begin], 0, false
	}
	out = append(append(out, reason...), "\r\n"...)
	p.sort()
	length := ""
	for i := range p.fields {
		f := &p.fields[i]
		if f.name == "Content-Length" && len(body) > 0 && len(body) < ownLength {
			length = f.value
			continue
		}
		if strings.IndexByte(f.value, '\r') >= 0 || strings.IndexByte(f.value, '\n') >= 0 {
			return out[:begin], 0, false
		}
		out = appendField(out, f.name, strings.Trim(f.value, " \t"))
	}
	if length != "" {
		out = appendField(out, "Content-Length", length)
	}
	if q.Final && !q.Old {
		out = appendField(out, "Connection", "close")
	}
	out = append(out, "\r\n"...)
	return append(out, body...), len(body), true
}

func appendField(out []byte, name, value string) []byte {
	out = append(append(out, name...), ": "...)
	return append(append(out, value...), "\r\n"...)
}

// sort sorts the header fields by name. Fields with the same name keep their order.
func (p *reply) sort() {
	for i := 1; i < len(p.fields); i++ {
		f := p.fields[i]
		k := i
		for ; k > 0 && p.fields[k-1].name > f.name; k-- {
			p.fields[k] = p.fields[k-1]
		}
		p.fields[k] = f
	}
}
