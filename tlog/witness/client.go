package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/tlog"
)

// Limits of the client.
const (
	DefaultTimeout = 5 * time.Second // for all witnesses together
	MaxWitnesses   = 32
	maxResponse    = 64 << 10 // length of a response, in bytes
	maxAttempts    = 3        // requests to a witness for one checkpoint
)

const sizeType = "text/x.tlog.size"

// path is the path of the request below the URL of a witness.
const path = "/add-checkpoint"

// Errors of an [Outcome].
var (
	// ErrFork says that the witness has cosigned a checkpoint that contradicts the log: the log
	// was rewritten, or an older backup of it was restored and changed.
	ErrFork = errors.New("the witness has cosigned another history of this log")

	// ErrAhead says that the witness has cosigned a checkpoint with more entries than the log has:
	// an older backup of the log was restored.
	ErrAhead = errors.New("the witness has cosigned more entries than the log has")
)

// A StatusError is the refusal of a witness.
type StatusError struct {
	Status int
	Text   string // of the response, made safe to print
}

func (e *StatusError) Error() string {
	why := map[int]string{
		http.StatusNotFound:  "the witness does not know the origin of the log",
		http.StatusForbidden: "the witness knows another key of the log",
	}[e.Status]
	if why == "" {
		why = "the witness refused"
	}
	text := fmt.Sprintf("%s (status %d)", why, e.Status)
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// A Witness is a witness that a log asks for cosignatures.
type Witness struct {
	URL string        // the submission prefix: the URL below which the request add-checkpoint is
	Key note.Verifier // made by [tlog.NewVerifier]
}

// Parse parses the text form of a witness: its public key, a space, and its URL.
func Parse(text string) (Witness, error) {
	vkey, address, found := strings.Cut(strings.TrimSpace(text), " ")
	address = strings.TrimSpace(address)
	if !found {
		return Witness{}, fmt.Errorf("invalid witness %q: want the public key, a space, and the URL", shown.Short(text, 200))
	}
	key, err := tlog.NewVerifier(vkey)
	if err != nil {
		return Witness{}, err
	}
	if !tlog.IsWitnessKey(key) {
		return Witness{}, fmt.Errorf("the key %q is that of a log, not of a witness", key.Name())
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return Witness{}, fmt.Errorf("invalid URL %q of the witness %q: want for example https://witness.example.org", shown.Short(address, 200), key.Name())
	}
	return Witness{URL: strings.TrimRight(address, "/"), Key: key}, nil
}

// A Prover returns the proof that the log with older entries is the beginning of the log whose
// checkpoint is to be cosigned. It may be called concurrently.
type Prover func(ctx context.Context, older uint64) ([]tlog.Hash, error)

// A Policy says which witnesses a log asks, and how many must cosign.
type Policy struct {
	Witnesses []Witness
	Need      int           // number of cosignatures that a checkpoint should have
	Timeout   time.Duration // for all witnesses together, which are asked at the same time; 0 means DefaultTimeout
}

// Check returns an error if the policy cannot be met.
func (p Policy) Check() error {
	switch {
	case p.Need < 0 || p.Need > len(p.Witnesses):
		return fmt.Errorf("%d cosignatures are needed, but there are %d witnesses", p.Need, len(p.Witnesses))
	case len(p.Witnesses) > MaxWitnesses:
		return fmt.Errorf("a log can have at most %d witnesses", MaxWitnesses)
	case p.Timeout < 0:
		return errors.New("the timeout must not be negative")
	}
	seen := map[string]bool{}
	for _, w := range p.Witnesses {
		if seen[w.Key.Name()] {
			return fmt.Errorf("the witness %q is listed twice", w.Key.Name())
		}
		seen[w.Key.Name()] = true
	}
	return nil
}

// An Outcome says what one witness answered.
type Outcome struct {
	Witness string // name of its key
	URL     string
	Time    time.Time // when it cosigned, by its clock
	Err     error     // why there is no cosignature; nil if there is one
}

// A Result is a checkpoint with the cosignatures of a [Group].
type Result struct {
	Checkpoint []byte // with all cosignatures, in the order of the policy
	Cosigned   int
	Enough     bool // as many as the policy needs
	Outcomes   []Outcome
}

// A Group asks the witnesses of a log. It may be used concurrently.
type Group struct {
	policy Policy
	http   *http.Client
	mu     sync.Mutex
	last   []uint64 // what each witness cosigned last, as far as is known
}

// NewGroup returns a group for a policy, which must pass [Policy.Check]. Redirects are not followed.
// If client is nil, the group uses a client with default settings.
func NewGroup(policy Policy, client *http.Client) *Group {
	if client == nil {
		client = new(http.Client)
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if policy.Timeout == 0 {
		policy.Timeout = DefaultTimeout
	}
	return &Group{policy: policy, http: &own, last: make([]uint64, len(policy.Witnesses))}
}

// Cosign asks all witnesses at the same time for cosignatures of a checkpoint, which the log has
// signed. It returns as soon as all have answered, and after the timeout of the policy at the
// latest. A missing cosignature is not an error; the error says that signed is not a checkpoint.
func (g *Group) Cosign(ctx context.Context, signed []byte, prove Prover) (Result, error) {
	c, err := tlog.Peek(signed)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.policy.Timeout, fmt.Errorf("no response within %v", g.policy.Timeout))
	defer cancel()
	lines := make([]string, len(g.policy.Witnesses))
	r := Result{Checkpoint: bytes.Clone(signed), Outcomes: make([]Outcome, len(lines))}
	var all sync.WaitGroup
	for i, w := range g.policy.Witnesses {
		all.Go(func() {
			o := Outcome{Witness: w.Key.Name(), URL: w.URL}
			lines[i], o.Time, o.Err = g.ask(ctx, i, signed, c, prove)
			if cause := context.Cause(ctx); o.Err != nil && cause != nil && errors.Is(o.Err, ctx.Err()) {
				o.Err = cause
			}
			r.Outcomes[i] = o
		})
	}
	all.Wait()
	for _, line := range lines {
		if line != "" {
			r.Cosigned++
			r.Checkpoint = append(r.Checkpoint, line...)
		}
	}
	r.Enough = r.Cosigned >= g.policy.Need
	return r, nil
}

func (g *Group) ask(ctx context.Context, i int, signed []byte, c tlog.Checkpoint, prove Prover) (string, time.Time, error) {
	w := g.policy.Witnesses[i]
	old := min(g.lastOf(i), c.Size)
	for range maxAttempts {
		hashes, err := prove(ctx, old)
		if err != nil {
			return "", time.Time{}, err
		}
		status, kind, body, err := g.post(ctx, w.URL, (&tlog.WitnessRequest{Old: old, Hashes: hashes, Checkpoint: signed}).Append(nil))
		if err != nil {
			return "", time.Time{}, err
		}
		switch {
		case status == http.StatusOK:
			line, at, err := cosignature(signed, body, w.Key)
			if err == nil {
				g.remember(i, c.Size)
			}
			return line, at, err
		case status == http.StatusUnprocessableEntity: // the log has proved its own history, so the checkpoint of the witness is not in the log
			return "", time.Time{}, fmt.Errorf("%w: at %d entries", ErrFork, old)
		case status != http.StatusConflict || kind != sizeType:
			return "", time.Time{}, &StatusError{Status: status, Text: shown.Short(shown.Line(string(body)), 200)}
		}
		size, err := tlog.ParseSize(body)
		switch {
		case err != nil:
			return "", time.Time{}, err
		case size > c.Size:
			g.remember(i, size)
			return "", time.Time{}, fmt.Errorf("%w: it has %d, the log has %d", ErrAhead, size, c.Size)
		case size == old:
			return "", time.Time{}, fmt.Errorf("%w: at %d entries", ErrFork, size)
		}
		old = size
		g.remember(i, size)
	}
	return "", time.Time{}, errors.New("the witness changes the size that it cosigned last with each request")
}

func (g *Group) lastOf(i int) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last[i]
}

func (g *Group) remember(i int, size uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last[i] = size
}

// post sends a request, and returns the status, the media type and the body of the response.
func (g *Group) post(ctx context.Context, base string, body []byte) (status int, kind string, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	resp, err := g.http.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err == nil && len(answer) > maxResponse {
		err = fmt.Errorf("the response is longer than %d bytes", maxResponse)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), answer, err
}

// cosignature returns the line with the cosignature by key in the body of a response. It ignores
// signatures by other keys.
func cosignature(signed, body []byte, key note.Verifier) (string, time.Time, error) {
	n, err := note.Open(append(bytes.Clone(signed), body...), note.VerifierList(key))
	var unknown *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unknown):
		return "", time.Time{}, fmt.Errorf("the response has no cosignature by the key %q; check the key of the witness", key.Name())
	case err != nil:
		return "", time.Time{}, fmt.Errorf("the response of the witness: %w", err)
	}
	sig := n.Sigs[0]
	at, err := tlog.CosignatureTime(sig)
	if err != nil {
		return "", time.Time{}, err
	}
	return "— " + sig.Name + " " + sig.Base64 + "\n", at, nil
}
