package certificates

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/nomen-project/nomen/store"
)

// LetsEncrypt is the URL of the directory of Let's Encrypt.
const LetsEncrypt = acme.LetsEncryptURL

// Options configure a Manager. Vault, Hosts and AcceptTerms are required.
type Options struct {
	Vault store.Vault

	// Hosts returns the hosts that need certificates, in any spelling. The Manager calls it every
	// few seconds, and ignores hosts for which no certificate can be ordered.
	Hosts func(context.Context) ([]string, error)

	Directory   string         // URL of the directory of the certificate authority; [LetsEncrypt] if ""
	Email       string         // address to which the certificate authority can write; "" for none
	AcceptTerms bool           // agrees to the terms of service of the certificate authority
	AccountID   string         // ID that the certificate authority has assigned to an external account, or ""
	AccountKey  []byte         // HMAC key of the external account
	Roots       *x509.CertPool // root certificates for verifying the server of the directory; nil means the certificates of the system

	// Unchecked makes the Manager order certificates without first checking that each host leads to
	// this server. Some networks do not let a server reach its own public address.
	Unchecked bool

	Ordered   func(error)      // called after each order, with nil if a certificate was issued; may be nil
	Now       func() time.Time // clock; time.Now if nil
	Log       *slog.Logger     // discarded if nil
	UserAgent string           // User-Agent of the requests to the certificate authority

	// Dial connects to a host to check that the host leads to this server; nil means a
	// [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	passEvery    = 15 * time.Second // time between two passes, which look for new hosts and for other nodes' certificates
	passSoon     = 2 * time.Second  // time between two passes while another node orders a certificate
	orderTime    = 4 * time.Minute  // maximum time for one order
	leaseTime    = 10 * time.Minute // time after which another node takes over if a node dies
	maxReads     = 8                // concurrent reads of challenges for clients
	endLeaseTime = 5 * time.Second
)

var errTerms = errors.New("certificates: the terms of service of the authority must be accepted")

// A Manager is a [Source] that orders certificates by ACME.
type Manager struct {
	o      Options
	prefix string        // prefix of the keys of the Manager in the vault
	node   string        // identifies this node as the holder of the lease
	wake   chan struct{} // makes Run begin the next pass at once
	reads  chan struct{} // one element for each read of a challenge

	mu    sync.RWMutex
	hosts map[string]*host

	// Only the method pass and the methods that it calls use the fields below.
	told      string               // the failure of the vault or of Hosts that was logged last
	leftOver  int                  // the number of hosts beyond maxHosts, as last logged
	reminders map[string]*reminder // reminders by host
}

// A host contains the state of the certificate for one host. Manager.mu protects all fields.
type host struct {
	cert    *tls.Certificate // nil before the first certificate
	unsaved []byte           // the certificate as PEM, if the vault could not be written
	back    backOff
	checked string    // the failed check that was last logged
	since   time.Time // earlier failures of other nodes delay an order only if they were rate limits
}

var _ Source = (*Manager)(nil)

// New returns a Manager, which does nothing until Run is called.
func New(o Options) (*Manager, error) {
	if !o.AcceptTerms {
		return nil, errTerms
	}
	o.Directory = cmp.Or(o.Directory, LetsEncrypt)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ordered == nil {
		o.Ordered = func(error) {}
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	return &Manager{
		o: o, prefix: "acme-" + digest(o.Directory) + "-", node: rand.Text(),
		wake: make(chan struct{}, 1), reads: make(chan struct{}, maxReads), hosts: map[string]*host{},
		reminders: map[string]*reminder{},
	}, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Run implements [Source].
func (m *Manager) Run(ctx context.Context) {
	for ctx.Err() == nil {
		next := passEvery
		if others := m.pass(ctx); others {
			next = passSoon
		}
		select {
		case <-ctx.Done():
		case <-m.wake:
		case <-time.After(next):
		}
	}
}

// Reload implements [Source]. It returns at once.
func (m *Manager) Reload() error {
	now := m.o.Now()
	m.mu.Lock()
	for _, h := range m.hosts {
		if h.since = now; !h.back.Limited {
			h.back.After = time.Time{}
		}
	}
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return nil
}

// Status implements [Source].
func (m *Manager) Status() []Status {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make([]Status, 0, len(m.hosts))
	for name, h := range m.hosts {
		all = append(all, h.status(name))
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Host, b.Host) })
	return all
}

func (h *host) status(name string) Status {
	s := Status{Host: name, Err: h.back.Error, Attempts: h.back.Failures, Next: h.back.After}
	if h.cert != nil {
		s.Begins, s.Expires = h.cert.Leaf.NotBefore, h.cert.Leaf.NotAfter
	}
	return s
}

// due reports whether a certificate must be ordered for a host: it has none, or at most a third of
// the lifetime is left.
func (h *host) due(now time.Time) bool {
	if h.cert == nil {
		return true
	}
	leaf := h.cert.Leaf
	return !now.Before(leaf.NotAfter.Add(-leaf.NotAfter.Sub(leaf.NotBefore) / 3))
}

// pass checks all hosts once. It loads certificates that other nodes have ordered, and orders
// certificates that are missing or due for renewal. The result others is true if another node is
// ordering certificates at this time.
func (m *Manager) pass(ctx context.Context) (others bool) {
	if err := m.look(ctx); err != nil {
		m.tell(ctx, "the hosts that need certificates are not known", err)
		return false
	}
	due, err := m.adopt(ctx)
	if err == nil && len(due) > 0 {
		others, err = m.orderAll(ctx, due)
	}
	m.tell(ctx, "no certificate can be ordered, those in memory stay in use", err)
	for _, s := range m.Status() {
		if m.reminders[s.Host] == nil {
			m.reminders[s.Host] = new(reminder)
		}
		m.reminders[s.Host].remind(m.o.Log, s, m.o.Now())
	}
	return others
}

// tell logs a failure of the store, but does not repeat the same message.
func (m *Manager) tell(ctx context.Context, what string, err error) {
	text := ""
	if err != nil {
		text = oneLine(err)
	}
	if text != "" && text != m.told && ctx.Err() == nil {
		m.o.Log.Error(what, "err", err)
	}
	m.told = text
}

// look updates the list of hosts that need certificates.
func (m *Manager) look(ctx context.Context) error {
	names, err := m.o.Hosts(ctx)
	if err != nil {
		return err
	}
	names, rest := orderable(names)
	if rest != m.leftOver && rest > 0 {
		m.o.Log.Error("too many hosts need certificates", "limit", maxHosts, "without", rest)
	}
	m.leftOver = rest
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.hosts {
		if !slices.Contains(names, name) {
			delete(m.hosts, name)
		}
	}
	for _, name := range names {
		if m.hosts[name] == nil {
			m.hosts[name] = &host{since: m.o.Now()}
		}
	}
	return nil
}

// adopt looks in the vault for certificates that this node lacks or must renew. It returns the
// hosts for which a certificate must be ordered now. Hosts whose orders have failed come last.
func (m *Manager) adopt(ctx context.Context) (due []string, err error) {
	now := m.o.Now()
	for _, s := range m.Status() {
		if h := m.host(s.Host); !h.due(now) && h.unsaved == nil {
			continue
		}
		if err := m.load(ctx, s.Host); err != nil {
			return nil, err
		}
		if h := m.host(s.Host); h.due(now) && !h.back.waits(now) {
			due = append(due, s.Host)
		}
	}
	// An order for a host that failed before can take long, so such hosts come last.
	slices.SortStableFunc(due, func(a, b string) int { return cmp.Compare(m.host(a).back.Failures, m.host(b).back.Failures) })
	return due, nil
}

// host returns a copy of the state of a host. If the host is not in the list of hosts, host returns
// the zero value.
func (m *Manager) host(name string) host {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if h := m.hosts[name]; h != nil {
		return *h
	}
	return host{}
}

// update calls change with the state of a host. If the host is not in the list of hosts, update
// does nothing.
func (m *Manager) update(name string, change func(*host)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.hosts[name]; h != nil {
		change(h)
	}
}

// load reads the certificate and the back-off of a host from the vault. If this node has ordered a
// certificate but could not write it to the vault, load writes it instead.
func (m *Manager) load(ctx context.Context, name string) error {
	if unsaved := m.host(name).unsaved; unsaved != nil {
		if err := m.o.Vault.PutSecret(ctx, m.prefix+name, unsaved); err != nil {
			return err
		}
		m.update(name, func(h *host) { h.unsaved = nil })
		return nil
	}
	text, err := m.o.Vault.Secret(ctx, m.prefix+name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil {
		cert, err := parse(text, name)
		if err != nil {
			m.o.Log.Error("the stored certificate is invalid: a new certificate will be ordered", "host", name, "err", err)
		} else {
			m.update(name, func(h *host) { h.adopt(cert) })
		}
	}
	now := m.o.Now()
	back, err := m.readBackOff(ctx, name)
	if err != nil {
		return err
	}
	m.update(name, func(h *host) {
		if (back.Limited || back.At.After(h.since)) && back.waits(now) && back.After.After(h.back.After) {
			h.back = back
		}
	})
	return nil
}

// adopt makes cert the certificate of the host, unless the present certificate expires later.
func (h *host) adopt(cert *tls.Certificate) {
	if h.cert == nil || cert.Leaf.NotAfter.After(h.cert.Leaf.NotAfter) {
		h.cert, h.back, h.checked = cert, backOff{}, ""
	}
}

// orderAll orders certificates for the hosts in due. If another node is ordering certificates,
// orderAll stops and returns true. An error is a failure of the store.
func (m *Manager) orderAll(ctx context.Context, due []string) (others bool, err error) {
	lease := m.prefix + "lease"
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLeaseTime)
		defer cancel()
		_, _ = m.o.Vault.Lease(last, lease, m.node, 0) // if this fails, the lease expires by itself
	}()
	for _, name := range due {
		mine, err := m.o.Vault.Lease(ctx, lease, m.node, leaseTime)
		if err != nil || !mine {
			return err == nil, err
		}
		if err := m.load(ctx, name); err != nil { // another node may just have ordered the certificate
			return false, err
		}
		now := m.o.Now()
		if h := m.host(name); !h.due(now) || h.back.waits(now) {
			continue
		}
		if err := m.orderOne(ctx, name); err != nil {
			return false, err
		}
	}
	return false, nil
}

// orderOne orders the certificate of a host and stores it. After a failure it stores the back-off.
func (m *Manager) orderOne(ctx context.Context, name string) error {
	order, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	text, err := m.order(order, name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isStoreError(err) {
		return err
	}
	var cert *tls.Certificate
	if err == nil {
		cert, err = parse(text, name)
	}
	m.o.Ordered(err)
	if err != nil {
		return m.failed(ctx, name, err)
	}
	err = m.o.Vault.PutSecret(ctx, m.prefix+name, text)
	m.update(name, func(h *host) {
		h.cert, h.back, h.checked = cert, backOff{}, ""
		if err != nil {
			h.unsaved = text
		}
	})
	m.o.Log.Info("a certificate was issued", "host", name, "expires", cert.Leaf.NotAfter.UTC().Format(time.RFC3339), "issuer", cert.Leaf.Issuer.String())
	if err != nil {
		return err
	}
	if h := m.host(name); h.due(m.o.Now()) {
		return m.failed(ctx, name, &clockError{cert.Leaf.NotBefore})
	}
	return m.o.Vault.PutSecret(ctx, m.stateKey(name), nil)
}

// ParseAccountKey decodes the HMAC key of an external account, which certificate authorities show
// as base64url.
func ParseAccountKey(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	key, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		key, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil || len(key) == 0 {
		return nil, errors.New("invalid key of an external account: must be base64url, as the authority shows it")
	}
	return key, nil
}
