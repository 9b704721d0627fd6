// Package dnstest provides a DNS server for tests. It serves a zone in the syntax of master files
// (RFC 1035, section 5) on loopback, over UDP and TCP, and can send faulty responses.
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

// A Fault describes an error in a response. The zero Fault changes nothing.
type Fault struct {
	Silent   bool          // send no response
	Delay    time.Duration // wait before responding
	Rcode    int           // response code instead of a response from the zone; 2 is SERVFAIL
	Truncate bool          // over UDP, send only the first part, marked as truncated
	Torn     bool          // over UDP, end the response within a record
	Forged   int           // number of responses with another ID to send first, and then one to another question
	Garbage  bool          // first send octets that are not a message
	Alien    bool          // put records of another owner before the right ones
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

// Start starts a server for a zone. The server calls fault for each query, and sends a response
// with the returned Fault. The function fault may be nil.
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

// listen finds a port that is free for both UDP and TCP.
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

// Queries returns the queries that the server has received so far, in order.
func (s *Server) Queries() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Query(nil), s.queries...)
}

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
			const rest = 3 // octets of the last record that are left
			_, _ = w.Write(packet[:len(packet)-rest])
		}
		return
	}
	if !tcp {
		reply.Truncate(1232)
	}
	_ = w.WriteMsg(reply)
}

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

// lookup answers from the zone, and follows aliases.
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

// exists reports whether the zone has records at or below a name.
func (s *Server) exists(name string) bool {
	for owner := range s.records {
		if owner == name || strings.HasSuffix(owner, "."+name) {
			return true
		}
	}
	return false
}

// authority returns the SOA record of the zone to which a name belongs, or nil.
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
