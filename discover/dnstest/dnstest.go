// Package dnstest is a DNS server for tests. It listens on the loopback
// interface, over UDP and TCP on one port, serves a zone in the syntax of master
// files (RFC 1035, 5), and can inject faults.
package dnstest

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// A Query is a query that the server received.
type Query struct {
	Name string // in lower case, with the final dot
	Type string // "A", "NAPTR" ...
	TCP  bool
	EDNS bool
}

// A Fault is a fault to inject into a response. The zero Fault has no effect.
type Fault struct {
	Silent   bool          // no response at all
	Delay    time.Duration // before the response
	Rcode    int           // response code in place of the zone's response: 2 is SERVFAIL
	Truncate bool          // a response over UDP has only the first part
	Torn     bool          // a response over UDP ends within a record
	Forged   int           // number of responses with another ID that are sent first; one more has another question
	Garbage  bool          // octets that are not a message are sent before the response
	Alien    bool          // records of another owner precede the requested records
}

// A Server is a running DNS server.
type Server struct {
	Addr string // HOST:PORT

	mu      sync.Mutex
	records map[string][]dns.RR // by owner, in lower case
	fault   func(Query) Fault
	queries []Query

	udp, tcp *dns.Server
	closing  chan struct{}
}

// Start starts a server for a zone. fault, if not nil, is called for every query.
func Start(zone string, fault func(Query) Fault) (*Server, error) {
	s := &Server{closing: make(chan struct{}), fault: fault}
	if err := s.Serve(zone); err != nil {
		return nil, err
	}
	packets, listener, err := listen()
	if err != nil {
		return nil, err
	}
	s.Addr = listener.Addr().String()
	s.udp = &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) { s.answer(w, m, false) })}
	s.tcp = &dns.Server{Listener: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) { s.answer(w, m, true) })}
	var started sync.WaitGroup
	for _, server := range []*dns.Server{s.udp, s.tcp} {
		started.Add(1)
		server.NotifyStartedFunc = started.Done
		go func() { _ = server.ActivateAndServe() }()
	}
	started.Wait()
	return s, nil
}

// listen finds a port that is free for UDP and TCP.
func listen() (net.PacketConn, net.Listener, error) {
	var last error
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		p, err := net.ListenPacket("udp", l.Addr().String())
		if err == nil {
			return p, l, nil
		}
		last = err
		_ = l.Close()
	}
	return nil, nil, last
}

// Serve replaces the zone.
func (s *Server) Serve(zone string) error {
	records := map[string][]dns.RR{}
	p := dns.NewZoneParser(strings.NewReader(zone), ".", "")
	p.SetDefaultTTL(300)
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		owner := strings.ToLower(rr.Header().Name)
		records[owner] = append(records[owner], rr)
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("dnstest: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = records
	return nil
}

// Queries returns the received queries, in order.
func (s *Server) Queries() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Query(nil), s.queries...)
}

// Close stops the server.
func (s *Server) Close() error {
	close(s.closing)
	return errors.Join(s.udp.Shutdown(), s.tcp.Shutdown())
}

func (s *Server) answer(w dns.ResponseWriter, m *dns.Msg, tcp bool) {
	if len(m.Question) != 1 {
		return
	}
	q := m.Question[0]
	query := Query{strings.ToLower(q.Name), dns.TypeToString[q.Qtype], tcp, m.IsEdns0() != nil}
	s.mu.Lock()
	s.queries = append(s.queries, query)
	reply, fault := s.lookup(m), Fault{}
	if s.fault != nil {
		fault = s.fault(query)
	}
	s.mu.Unlock()
	s.spoil(w, reply, fault, tcp)
}

// spoil adds a fault to a reply, and then sends the reply.
func (s *Server) spoil(w dns.ResponseWriter, reply *dns.Msg, f Fault, tcp bool) {
	select {
	case <-time.After(f.Delay):
	case <-s.closing:
		return
	}
	if f.Garbage {
		_, _ = w.Write([]byte("\x00\x01garbage that is not a message"))
	}
	if f.Forged > 0 {
		forgeReplies(w, reply, f.Forged)
	}
	if f.Alien {
		alien := reply.Question[0]
		alien.Name = "alien.example."
		reply.Answer = append(forge(alien), reply.Answer...)
	}
	if f.Rcode != 0 {
		reply.Rcode, reply.Answer, reply.Ns = f.Rcode, nil, nil
	}
	if f.Truncate && !tcp {
		reply.Truncated, reply.Answer = true, nil
	}
	if f.Silent {
		return
	}
	if f.Torn && !tcp && len(reply.Answer) > 0 {
		reply.Truncated = true
		if packet, err := reply.Pack(); err == nil {
			const rest = 3 // octets of the last record
			_, _ = w.Write(packet[:len(packet)-rest])
		}
		return
	}
	if !tcp {
		reply.Truncate(1232)
	}
	_ = w.WriteMsg(reply)
}

// forgeReplies sends n replies with another ID, and one reply to another question.
func forgeReplies(w dns.ResponseWriter, reply *dns.Msg, n int) {
	for range n {
		forged := reply.Copy()
		forged.Id++
		forged.Answer = forge(reply.Question[0])
		_ = w.WriteMsg(forged)
	}
	forged := reply.Copy()
	forged.Question[0].Name = "forged.example."
	forged.Answer = forge(forged.Question[0])
	_ = w.WriteMsg(forged)
}

// forge returns a misleading record.
func forge(q dns.Question) []dns.RR {
	rdata := map[uint16]string{
		dns.TypeA: "192.0.2.66", dns.TypeAAAA: "2001:db8::66", dns.TypeSRV: "0 0 66 forged.example.",
		dns.TypeNAPTR: `1 1 "a" "thttp" "" forged.example.`,
	}[q.Qtype]
	rr, err := dns.NewRR(q.Name + " 300 IN " + dns.TypeToString[q.Qtype] + " " + rdata)
	if err != nil || rr == nil {
		return nil
	}
	return []dns.RR{rr}
}

// lookup answers from the zone, and follows aliases in it.
func (s *Server) lookup(m *dns.Msg) *dns.Msg {
	reply := new(dns.Msg)
	reply.SetReply(m)
	reply.Authoritative = true
	owner := strings.ToLower(m.Question[0].Name)
	for range 10 {
		var alias string
		for _, rr := range s.records[owner] {
			if rr.Header().Rrtype == m.Question[0].Qtype {
				reply.Answer = append(reply.Answer, dns.Copy(rr))
			} else if c, ok := rr.(*dns.CNAME); ok {
				reply.Answer = append(reply.Answer, dns.Copy(rr))
				alias = strings.ToLower(c.Target)
			}
		}
		if alias == "" || len(s.records[alias]) == 0 {
			break
		}
		owner = alias
	}
	if len(reply.Answer) == 0 {
		if !s.exists(owner) {
			reply.Rcode = dns.RcodeNameError
		}
		reply.Ns = s.authority(owner)
	}
	return reply
}

// exists reports whether there are records at or below a name.
func (s *Server) exists(name string) bool {
	for owner := range s.records {
		if owner == name || strings.HasSuffix(owner, "."+name) {
			return true
		}
	}
	return false
}

// authority returns the SOA record of the zone to which a name belongs, if the zone file has one.
func (s *Server) authority(name string) []dns.RR {
	for name != "" {
		for _, rr := range s.records[name] {
			if rr.Header().Rrtype == dns.TypeSOA {
				return []dns.RR{rr}
			}
		}
		if name == "." {
			break
		}
		_, name, _ = strings.Cut(name, ".")
		name = cmp.Or(name, ".")
	}
	return nil
}
