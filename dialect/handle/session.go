package handle

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"sync"
	"time"

	"github.com/nomen-project/nomen/dialect"
)

// Limits of sessions. If there are too many sessions without authentication, the oldest of them
// ends. If there are too many authenticated sessions, the least recently used of them ends.
const (
	nonceLife    = 5 * time.Minute  // maximum time for answering a challenge
	idleLife     = 10 * time.Minute // lifetime of an authenticated session without requests
	wholeLife    = 12 * time.Hour   // lifetime of an authenticated session
	maxPending   = 4096             // maximum number of sessions that are not authenticated
	maxOpen      = 4096             // maximum number of authenticated sessions
	maxPerClient = 64               // maximum number of sessions of a client that are not authenticated
	nonceBytes   = 16
)

// A session has the challenge for a client and, after a correct answer, the identity of the client.
// Only the IP address that started the session can use it.
type session struct {
	id     string
	client netip.Addr
	nonce  []byte
	made   time.Time // time at which the nonce was made

	identity *dialect.Identity // nil until the client is authenticated
	answer   [sha256.Size]byte // digest of the answer that authenticated the session
	began    time.Time         // time of the authentication
	used     time.Time         // time of the last request
	at       *list.Element     // element of pending or open
}

// sessions is the set of sessions of a server process. It is kept only in memory. It is safe for
// concurrent use.
type sessions struct {
	now func() time.Time

	mu      sync.Mutex
	all     map[[sha256.Size]byte]*session // by the digest of the ID, so that the time of a look-up does not disclose an ID
	pending *list.List                     // sessions without authentication, oldest first
	open    *list.List                     // authenticated sessions, least recently used first
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: map[[sha256.Size]byte]*session{}, pending: list.New(), open: list.New()}
}

func newNonce() []byte {
	b := make([]byte, nonceBytes)
	rand.Read(b)
	return b
}

func (k *sessions) begin(client netip.Addr) session {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire()
	k.makeRoom(client)
	s := &session{id: rand.Text(), client: client, nonce: newNonce(), made: k.now()}
	s.at = k.pending.PushBack(s)
	k.all[sha256.Sum256([]byte(s.id))] = s
	return *s
}

// makeRoom makes room for another session of a client. It ends sessions that are not authenticated.
func (k *sessions) makeRoom(client netip.Addr) {
	var first *session
	n := 0
	for e := k.pending.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*session); s.client == client {
			if n++; first == nil {
				first = s
			}
		}
	}
	switch {
	case n >= maxPerClient:
		k.drop(first)
	case k.pending.Len() >= maxPending:
		k.drop(k.pending.Front().Value.(*session))
	}
}

func (k *sessions) expire() {
	now := k.now()
	for _, l := range []*list.List{k.pending, k.open} {
		for e := l.Front(); e != nil && e.Value.(*session).isOver(now); e = l.Front() {
			k.drop(e.Value.(*session))
		}
	}
}

func (s *session) isOver(now time.Time) bool {
	if s.identity == nil {
		return now.Sub(s.made) >= nonceLife
	}
	return now.Sub(s.used) >= idleLife || now.Sub(s.began) >= wholeLife
}

func (k *sessions) drop(s *session) {
	delete(k.all, sha256.Sum256([]byte(s.id)))
	if s.identity == nil {
		k.pending.Remove(s.at)
	} else {
		k.open.Remove(s.at)
	}
}

func (k *sessions) find(id string, client netip.Addr) *session {
	k.expire()
	s := k.all[sha256.Sum256([]byte(id))]
	if s == nil || s.client != client {
		return nil
	}
	if s.isOver(k.now()) {
		k.drop(s)
		return nil
	}
	return s
}

// get returns the session of a client, and marks the session as used. If the nonce of the session
// has expired, get replaces it.
func (k *sessions) get(id string, client netip.Addr) (session, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.find(id, client)
	if s == nil {
		return session{}, false
	}
	s.used = k.now()
	if s.identity != nil {
		k.open.MoveToBack(s.at)
		if s.used.Sub(s.made) >= nonceLife {
			s.nonce, s.made = newNonce(), s.used
		}
	}
	return *s, true
}

// take returns the nonce of a session and replaces it, so that each nonce can be answered only
// once. If the same answer has already authenticated the session, take returns the identity
// instead.
func (k *sessions) take(id string, client netip.Addr, answer [sha256.Size]byte) (nonce []byte, i *dialect.Identity, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.find(id, client)
	if s == nil {
		return nil, nil, false
	}
	if s.identity != nil && subtle.ConstantTimeCompare(s.answer[:], answer[:]) == 1 {
		return nil, s.identity, true
	}
	fresh := k.now().Sub(s.made) < nonceLife
	nonce, s.nonce = s.nonce, newNonce()
	if s.identity != nil { // its lifetime starts with its first nonce
		s.made = k.now()
	}
	return nonce, nil, fresh
}

func (k *sessions) admit(id string, client netip.Addr, i *dialect.Identity, answer [sha256.Size]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.find(id, client)
	if s == nil {
		return
	}
	k.drop(s)
	if k.open.Len() >= maxOpen {
		k.drop(k.open.Front().Value.(*session))
	}
	s.identity, s.answer, s.began, s.used, s.made = i, answer, k.now(), k.now(), k.now()
	s.at = k.open.PushBack(s)
	k.all[sha256.Sum256([]byte(s.id))] = s
}

func (k *sessions) end(id string, client netip.Addr) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.find(id, client)
	if s != nil {
		k.drop(s)
	}
	return s != nil
}
