package discover

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// answer returns the response to a question from the cache or from DNS. Concurrent calls with the
// same question share a query.
func (r *Resolver) answer(ctx context.Context, fqdn string, t uint16) (answer, error) {
	key := question{fqdn, t}
	for {
		if a, ok := r.cache.get(key); ok {
			return a, nil
		}
		r.mu.Lock()
		other := r.asking[key]
		if other == nil {
			mine := &asking{done: make(chan struct{})}
			r.asking[key] = mine
			r.mu.Unlock()
			return r.askFor(ctx, key, mine)
		}
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return answer{}, failure(fqdn, "", context.Cause(ctx))
		case <-other.done:
			if !other.cut {
				return other.answer, other.err
			}
		}
	}
}

func (r *Resolver) askFor(ctx context.Context, key question, a *asking) (answer, error) {
	defer func() {
		r.mu.Lock()
		delete(r.asking, key)
		r.mu.Unlock()
		close(a.done)
	}()
	m, err := r.exchange(ctx, key.name, key.kind)
	if err != nil {
		a.err, a.cut = err, ctx.Err() != nil
		return answer{}, err
	}
	a.answer = read(m, key.name, key.kind)
	r.cache.put(key, a.answer)
	return a.answer, nil
}

// exchange queries the servers in order until one of them answers.
func (r *Resolver) exchange(ctx context.Context, fqdn string, t uint16) (*dns.Msg, error) {
	c := r.config()
	var last error
	for range c.attempts {
		for _, server := range c.servers {
			m, err := r.askServer(ctx, server, fqdn, t, c.timeout)
			if err == nil {
				return m, nil
			}
			if ctx.Err() != nil {
				return nil, failure(fqdn, server, context.Cause(ctx))
			}
			last = failure(fqdn, server, err)
		}
	}
	return nil, last
}

func failure(fqdn, server string, err error) error {
	var timeout net.Error
	return &net.DNSError{
		UnwrapErr: err, Err: err.Error(), Name: canonicalHost(fqdn), Server: server,
		IsTimeout: errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded), IsTemporary: true,
	}
}

// askServer queries a server. If the server does not support EDNS, askServer repeats the query
// without EDNS (RFC 6891, section 7).
func (r *Resolver) askServer(ctx context.Context, server, fqdn string, t uint16, timeout time.Duration) (*dns.Msg, error) {
	q := new(dns.Msg)
	q.SetQuestion(fqdn, t)
	q.SetEdns0(udpSize, false)
	m, err := r.askBoth(ctx, server, q, timeout)
	if err == nil && (m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented || m.Rcode == dns.RcodeBadVers) {
		q = new(dns.Msg)
		q.SetQuestion(fqdn, t)
		m, err = r.askBoth(ctx, server, q, timeout)
	}
	switch {
	case err != nil:
		return nil, err
	case m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError:
		return nil, errors.New("the server returned " + rcode(m.Rcode))
	case m.Rcode == dns.RcodeSuccess && !m.Authoritative && !m.RecursionAvailable && len(m.Answer) == 0:
		return nil, errors.New("the server has no answer and does not recurse")
	}
	return m, nil
}

func rcode(code int) string {
	if s, ok := dns.RcodeToString[code]; ok {
		return s
	}
	return "error " + strconv.Itoa(code)
}

// askBoth sends a query over UDP, and again over TCP if the response was truncated.
func (r *Resolver) askBoth(ctx context.Context, server string, q *dns.Msg, timeout time.Duration) (*dns.Msg, error) {
	m, err := r.ask(ctx, "udp", server, q, timeout)
	if err == nil && m.Truncated {
		return r.ask(ctx, "tcp", server, q, timeout)
	}
	return m, err
}

// ask sends a query from a new local port, and waits for the response. Over UDP, it ignores packets
// that are not responses to this query.
func (r *Resolver) ask(ctx context.Context, network, server string, q *dns.Msg, timeout time.Duration) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := r.o.Dial(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	conn := &dns.Conn{Conn: c, UDPSize: 4096}
	if err := conn.WriteMsg(q); err != nil {
		return nil, err
	}
	for range maxStrange {
		m, err := conn.ReadMsg()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && (network == "tcp" || m == nil && !errors.Is(err, dns.ErrShortRead)):
			return nil, err
		case err == nil && answers(m, q):
			return m, nil
		case m != nil && m.Truncated && network == "udp" && answers(m, q): // some servers truncate the response within a record
			return m, nil
		case network == "tcp":
			return nil, errors.New("the response is to another question")
		}
	}
	return nil, errors.New("too many responses to other questions")
}

// answers reports whether m is a response to q, with the same ID and the same question. If the
// server could not parse the query, the question may be missing.
func answers(m, q *dns.Msg) bool {
	if m.Id != q.Id || !m.Response || m.Opcode != dns.OpcodeQuery {
		return false
	}
	if len(m.Question) == 0 {
		return m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented
	}
	got, want := m.Question[0], q.Question[0]
	return len(m.Question) == 1 && strings.EqualFold(got.Name, want.Name) && got.Qtype == want.Qtype && got.Qclass == want.Qclass
}
