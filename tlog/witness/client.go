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
	DefaultTimeout = 5 * time.Second // timeout for all witnesses together
	MaxWitnesses   = 32
	maxResponse    = 64 << 10 // length of a response, in bytes
	maxAttempts    = 3        // maximum number of requests to a witness for a checkpoint
)

const sizeType = "text/x.tlog.size"

// path is the path of the request, relative to the URL of a witness.
const path = "/add-checkpoint"

// Errors of an [Outcome].
var (
	// ErrFork means that the witness has cosigned a checkpoint that contradicts the log. The log
	// was rewritten, or an older backup of the log was restored and changed.
	ErrFork = errors.New("the witness has cosigned another history of this log")

	// ErrAhead means that the witness has cosigned a checkpoint with more entries than the log has.
	// An older backup of the log was restored.
	ErrAhead = errors.New("the witness has cosigned more entries than the log has")
)

// A StatusError reports a response in which a witness refuses to cosign.
type StatusError struct {
	Status int
	Text   string // text of the response, safe to print
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
	URL string        // the submission prefix, to which add-checkpoint is appended
	Key note.Verifier // made by [tlog.NewVerifier]
}

// Parse parses the text form of a witness, which consists of its public key, a space, and its URL.
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

// A Prover returns the proof that the log of a checkpoint is an extension of its earlier state,
// whose size is the parameter older. It may be called concurrently.
type Prover func(ctx context.Context, older uint64) ([]tlog.Hash, error)

// A Policy lists the witnesses that a log asks, and the required number of cosignatures.
type Policy struct {
	Witnesses []Witness
	Need      int           // number of cosignatures that a checkpoint should have
	Timeout   time.Duration // timeout for all witnesses together, which are asked concurrently; 0 means DefaultTimeout
}

// Check returns an error if the policy is invalid or cannot be satisfied.
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

// An Outcome is the answer of a witness.
type Outcome struct {
	Witness string // name of the key of the witness
	URL     string
	Time    time.Time // time of the cosignature, by the clock of the witness
	Err     error     // reason for which there is no cosignature, or nil
}

// A Result is a checkpoint with the cosignatures of a [Group].
type Result struct {
	Checkpoint []byte // with all cosignatures, in the order of the policy
	Cosigned   int
	Enough     bool // the number of cosignatures satisfies the policy
	Outcomes   []Outcome
}

// A Group asks the witnesses of a log. It is safe for concurrent use.
type Group struct {
	policy Policy
	http   *http.Client
	mu     sync.Mutex
	last   []uint64 // size of the last checkpoint that each witness is known to have cosigned
}

// NewGroup returns a group for a policy, which must pass [Policy.Check]. The Group does not follow
// redirects. If client is nil, it uses a client with default settings.
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

// Cosign asks all witnesses concurrently for cosignatures of a checkpoint, which the log must have
// signed. It returns when all witnesses have answered, or after the timeout of the policy. A
// missing cosignature is not an error. Cosign returns an error only if signed is not a checkpoint.
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
		case status == http.StatusUnprocessableEntity: // the proof of the log is valid, so the checkpoint of the witness is not in the log
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
// signatures by all other keys.
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
