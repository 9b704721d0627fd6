package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/flock"
	"github.com/nomen-project/nomen/internal/quiet"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/tlog"
)

// Limits of the server.
const (
	MaxLogs        = 1000 // maximum number of logs that a witness knows
	maxConcurrent  = 64   // maximum number of requests that are answered concurrently
	maxBodies      = 256  // maximum number of request bodies that are read concurrently
	requestTimeout = 10 * time.Second
	bodyTimeout    = 5 * time.Second
)

// Options are the settings of a [Server].
type Options struct {
	Signer note.Signer     // key of the witness, made by [tlog.NewSigner]
	Public string          // public key of the witness in text form, which its page shows
	Logs   []note.Verifier // keys of the logs; several keys with one name are keys of the same log
	Dir    string          // directory for the cosigned checkpoints; only one process can use it
	Log    *slog.Logger    // nil for none
	Now    func() time.Time
}

// A Server is a witness. It implements [http.Handler] for POST /add-checkpoint, and for GET /,
// which returns a page for users. It cosigns a checkpoint only after the checkpoint is on disk.
type Server struct {
	o    Options
	logs map[string]*watched // by origin
	lock *os.File
	mux  *http.ServeMux
	busy chan struct{}

	mu     sync.Mutex
	bodies []*http.ResponseController // controllers of the requests whose bodies are being read, oldest first
}

// A watched is a log that a witness knows.
type watched struct {
	keys []note.Verifier

	mu     sync.Mutex      // held from the comparison with last to the replacement of last
	last   tlog.Checkpoint // last cosigned checkpoint; before the first, a checkpoint of size 0
	signed []byte          // last, with the signature of the log; or nil
	lines  quiet.Lines
}

// New returns a witness. The caller must close it.
func New(o Options) (*Server, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{o: o, logs: map[string]*watched{}, mux: http.NewServeMux(), busy: make(chan struct{}, maxConcurrent)}
	if len(o.Logs) == 0 || len(o.Logs) > MaxLogs {
		return nil, fmt.Errorf("a witness needs the keys of 1 to %d logs", MaxLogs)
	}
	if err := os.MkdirAll(o.Dir, durable.PrivateDir); err != nil {
		return nil, err
	}
	if err := s.lockDir(); err != nil {
		return nil, err
	}
	for _, key := range o.Logs {
		if tlog.IsWitnessKey(key) {
			return nil, errors.Join(fmt.Errorf("the key %q is that of a witness, not of a log", key.Name()), s.Close())
		}
		w := s.logs[key.Name()]
		if w == nil {
			w = new(watched)
			var err error
			if w.last, w.signed, err = readState(o.Dir, key); err != nil {
				return nil, errors.Join(err, s.Close())
			}
			s.logs[key.Name()] = w
		}
		w.keys = append(w.keys, key)
	}
	s.mux.HandleFunc("POST "+path, s.addCheckpoint)
	s.mux.HandleFunc("GET /{$}", s.page)
	return s, nil
}

func (s *Server) lockDir() (err error) {
	name := filepath.Join(s.o.Dir, "lock")
	if s.lock, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, durable.Private); err != nil {
		return err
	}
	if err := flock.Try(s.lock); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", s.o.Dir, err), s.lock.Close())
	}
	return nil
}

// Close releases the directory of the witness for other processes. It must not be called while a
// request is in progress.
func (s *Server) Close() error { return s.lock.Close() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.mux.ServeHTTP(w, r.WithContext(ctx))
}

// take acquires one of the slots for concurrent requests. The caller must release the slot with
// free. If all slots are in use, take answers the request and returns false.
func (s *Server) take(w http.ResponseWriter) bool {
	select {
	case s.busy <- struct{}{}:
		return true
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at the same time", http.StatusServiceUnavailable)
		return false
	}
}

func (s *Server) free() { <-s.busy }

// readBody reads the body of a request. If too many bodies are being read, readBody aborts the
// request whose body has been read for the longest time. Clients that send slowly therefore cannot
// block other clients.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not supported without a connection
	s.mu.Lock()
	if len(s.bodies) == maxBodies {
		_ = s.bodies[0].SetReadDeadline(time.Unix(1, 0))
		s.bodies = slices.Delete(s.bodies, 0, 1)
	}
	s.bodies = append(s.bodies, control)
	s.mu.Unlock()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, tlog.MaxWitnessRequest))
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.bodies, control); i >= 0 {
		s.bodies = slices.Delete(s.bodies, i, i+1)
	}
	return body, err
}

// page sends a page with the key of the witness and the last cosigned checkpoints.
func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	if !s.take(w) {
		return
	}
	defer s.free()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintf(w, "This is a witness of transparency logs (https://c2sp.org/tlog-witness).\n\nkey   %s\n", s.o.Public)
	origins := make([]string, 0, len(s.logs))
	for origin := range s.logs {
		origins = append(origins, origin)
	}
	slices.Sort(origins)
	for _, origin := range origins {
		l := s.logs[origin]
		l.mu.Lock()
		size := l.last.Size
		l.mu.Unlock()
		fmt.Fprintf(w, "log   %s, cosigned up to entry %d\n", origin, size)
	}
}

// addCheckpoint answers a request for a cosignature. It makes the checks in the order that the
// specification requires.
func (s *Server) addCheckpoint(w http.ResponseWriter, r *http.Request) {
	body, err := s.readBody(w, r)
	if err != nil {
		http.Error(w, "the request is too long, was sent too slowly, or broke off", http.StatusBadRequest)
		return
	}
	if !s.take(w) {
		return
	}
	defer s.free()
	q, err := tlog.ParseWitnessRequest(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c, err := tlog.Peek(q.Checkpoint)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l := s.logs[c.Origin]
	if l == nil {
		http.Error(w, "this witness does not know this log", http.StatusNotFound)
		return
	}
	signed, err := l.open(q.Checkpoint)
	if err != nil {
		http.Error(w, "no signature by a key of this log that the witness knows", http.StatusForbidden)
		return
	}
	if q.Old > c.Size {
		http.Error(w, "the old size is greater than the size of the checkpoint", http.StatusBadRequest)
		return
	}
	line, status, err := s.cosign(l, q, c, signed)
	switch status {
	case http.StatusOK:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, line)
	case http.StatusConflict:
		w.Header().Set("Content-Type", sizeType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, line)
	default:
		http.Error(w, err.Error(), status)
	}
}

// open returns the checkpoint with only the signatures by keys of the log. Anyone can add lines
// with other signatures, so the witness does not store these.
func (l *watched) open(msg []byte) ([]byte, error) {
	n, err := note.Open(msg, note.VerifierList(l.keys...))
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: n.Text, Sigs: n.Sigs})
}

// cosign compares a checkpoint with the last checkpoint and stores it. It returns the body and the
// status of the response.
func (s *Server) cosign(l *watched, q *tlog.WitnessRequest, c tlog.Checkpoint, signed []byte) (string, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Size == l.last.Size && c.Root != l.last.Root {
		s.forked(l, c, signed)
	}
	if q.Old != l.last.Size || c.Size == l.last.Size && c.Root != l.last.Root {
		return tlog.FormatSize(l.last.Size), http.StatusConflict, nil
	}
	if err := tlog.CheckConsistency(q.Hashes, l.last, c); err != nil {
		if l.lines.Take(s.o.Now()) {
			s.o.Log.Warn("a checkpoint without a valid proof of consistency was not cosigned", "log", c.Origin, "size", c.Size, "last", l.last.Size)
		}
		return "", http.StatusUnprocessableEntity, err
	}
	msg, err := note.Sign(&note.Note{Text: c.Text()}, s.o.Signer)
	if err != nil {
		return "", http.StatusInternalServerError, errors.New("cannot cosign")
	}
	if l.signed == nil || c.Size != l.last.Size {
		if err := writeState(s.o.Dir, c.Origin, signed); err != nil {
			s.o.Log.Error("cannot store a checkpoint, so it was not cosigned", "log", c.Origin, "error", err)
			return "", http.StatusInternalServerError, errors.New("the witness cannot store the checkpoint")
		}
		l.last, l.signed = c, signed
		s.o.Log.Debug("cosigned", "log", c.Origin, "size", c.Size)
	}
	return string(msg[len(c.Text())+1:]), http.StatusOK, nil
}

// forked stores the evidence that a log has signed two contradictory checkpoints of the same size.
func (s *Server) forked(l *watched, c tlog.Checkpoint, signed []byte) {
	if l.signed == nil {
		return
	}
	if err := writeFork(s.o.Dir, c.Origin, l.signed, signed); err != nil {
		s.o.Log.Error("cannot store the evidence of a fork", "log", c.Origin, "error", err)
	}
	if l.lines.Take(s.o.Now()) {
		s.o.Log.Error("fork: the log has signed two checkpoints of the same size", "log", shown.Line(c.Origin), "size", c.Size, "evidence", fileOf(s.o.Dir, c.Origin, forkFile))
	}
}
