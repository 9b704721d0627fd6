package certificates

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const filesEvery = 5 * time.Second

// Files is a [Source] of one certificate in a file, whose private key is in the same file or in
// another file. It reads the files again when they change. While the certificate and the key do not
// match, because only one of them has been replaced, the previous certificate stays in use.
type Files struct {
	cert, key string
	now       func() time.Time
	log       *slog.Logger
	current   atomic.Pointer[fileState]

	reading  sync.Mutex     // held while the files are read, which can take long
	seen     [2]fs.FileInfo // the files when they were last read
	reminder reminder
}

type fileState struct {
	pair     *tls.Certificate // the last valid certificate
	err      error            // the error of the last attempt
	attempts int              // failed attempts since pair was read
}

var _ Source = (*Files)(nil)

// NewFiles reads a certificate chain and its private key from files in PEM. If now is nil, Files
// uses [time.Now]. If log is nil, nothing is logged.
func NewFiles(cert, key string, now func() time.Time, log *slog.Logger) (*Files, error) {
	if now == nil {
		now = time.Now
	}
	f := &Files{cert: cert, key: key, now: now, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	f.current.Store(new(fileState))
	if err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// TLS implements [Source].
func (f *Files) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.current.Load().pair, nil },
	}
}

// WellKnown implements [Source]. It returns next.
func (f *Files) WellKnown(next http.Handler) http.Handler { return next }

// Run implements [Source].
func (f *Files) Run(ctx context.Context) {
	tick := time.NewTicker(filesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.check()
	}
}

// check reads the files again if they have changed, or if the last attempt failed. It logs each
// error once.
func (f *Files) check() {
	f.reading.Lock()
	defer f.reading.Unlock()
	before := f.current.Load().err
	if before != nil || f.changed() {
		switch err := f.read(); {
		case err == nil:
			f.log.Info("the certificate was read again", "file", f.cert, "expires", f.Status()[0].Expires.UTC().Format(time.RFC3339))
		case before == nil || before.Error() != err.Error():
			f.log.Error("cannot read the certificate: the previous certificate stays in use", "err", err)
		}
	}
	f.reminder.remind(f.log, f.Status()[0], f.now())
}

// Reload implements [Source].
func (f *Files) Reload() error {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.read()
}

// changed reports whether a file has been replaced or modified since it was last read.
func (f *Files) changed() bool {
	for i, path := range []string{f.cert, f.key} {
		last := f.seen[i]
		info, err := os.Stat(path)
		if err != nil || last == nil || !os.SameFile(info, last) || !info.ModTime().Equal(last.ModTime()) || info.Size() != last.Size() {
			return true
		}
	}
	return false
}

func (f *Files) read() error {
	for i, path := range []string{f.cert, f.key} {
		f.seen[i], _ = os.Stat(path) // before reading, so that a later change is noticed
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		last := f.current.Load()
		err = fmt.Errorf("%s, %s: %w", f.cert, f.key, err)
		f.current.Store(&fileState{last.pair, err, last.attempts + 1})
		return err
	}
	f.current.Store(&fileState{pair: &pair})
	return nil
}

// Status implements [Source].
func (f *Files) Status() []Status {
	state := f.current.Load()
	leaf := state.pair.Leaf
	s := Status{Host: leaf.Subject.CommonName, Begins: leaf.NotBefore, Expires: leaf.NotAfter, Attempts: state.attempts}
	if len(leaf.DNSNames) > 0 {
		s.Host = leaf.DNSNames[0]
	}
	if state.err != nil {
		s.Err = oneLine(state.err)
	}
	return []Status{s}
}
