package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/store"
)

// vault checks the secrets and the leases of a store.
func vault(s *suite) {
	ctx, v := s.Context(), s.Store.(store.Vault)
	absent := func(key string) {
		s.Helper()
		if got, err := v.Secret(ctx, key); err != store.ErrNotFound {
			s.Errorf("secret %s: %q, %v, want ErrNotFound", key, got, err)
		}
	}
	put := func(key string, value []byte) {
		s.Helper()
		if err := v.PutSecret(ctx, key, value); err != nil {
			s.Fatalf("PutSecret(%s): %v", key, err)
		}
	}
	absent("a")
	put("a", nil) // remove a secret that does not exist
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	large := bytes.Repeat(all, store.MaxSecret/len(all))
	long := strings.Repeat("k", store.MaxSecretKey)
	for _, key := range []string{"a", "A.b-c_d+e9", long} {
		put(key, []byte("first"))
		put(key, large)
		got, err := v.Secret(ctx, key)
		if err != nil || !bytes.Equal(got, large) {
			s.Errorf("secret %s: %d bytes, %v, want the second value", key, len(got), err)
		}
		got[0]++
		if again, err := v.Secret(ctx, key); err != nil || !bytes.Equal(again, large) {
			s.Errorf("secret %s is not a copy: %v", key, err)
		}
	}
	absent("b")
	put("a", nil)
	absent("a")
	for _, key := range []string{"", ".", "..", ".a", "a/b", `a\b`, "a b", "a%", "ä", "a\x00", long + "k"} {
		_, rerr := v.Secret(ctx, key)
		_, lerr := v.Lease(ctx, key, "h", time.Minute)
		for what, err := range map[string]error{"Secret": rerr, "PutSecret": v.PutSecret(ctx, key, []byte("x")), "Lease": lerr} {
			if err == nil || errors.Is(err, store.ErrNotFound) {
				s.Errorf("%s of the key %q: %v, want an error", what, key, err)
			}
		}
	}
	if err := v.PutSecret(ctx, "a", append(large, 0)); err == nil {
		s.Error("a secret that is too large was accepted")
	}
	s.hidden()
}

// hidden checks that no listing and no log entry contains a secret.
func (s *suite) hidden() {
	s.Helper()
	if n := len(s.list(store.Scan{})); n != 0 {
		s.Errorf("%d records, want none", n)
	}
	if head, err := store.HeadOf(s.Context(), s); err == nil && head.Size != 0 {
		s.Errorf("%d changes, want none", head.Size)
	}
	if tokens, err := collect(store.AllTokens(s.Context(), s)); err == nil && len(tokens) != 0 {
		s.Errorf("%d tokens, want none", len(tokens))
	}
	if !has[store.Verifier](s.Store) {
		return
	}
	if _, err := store.Verify(s.Context(), s.Store, func(f store.Fault) { s.Errorf("with secrets: %+v", f) }, nil); err != nil {
		s.Errorf("Verify: %v", err)
	}
}

// swaps checks that SwapSecret compares and sets as one step.
func swaps(s *suite) {
	v := s.Store.(store.Vault)
	for i, tt := range []struct {
		old, new, then string
		want           bool
	}{
		{"x", "y", "", false}, // the secret does not exist
		{"", "", "", true},
		{"", "a", "a", true},
		{"", "b", "a", false},
		{"", "a", "a", true}, // it already has the new value
		{"b", "c", "a", false},
		{"a", "b", "b", true},
		{"a", "b", "b", true}, // as after a lost answer
		{"a", "", "b", false},
		{"b", "", "", true},
		{"b", "", "", true},
	} {
		got, err := v.SwapSecret(s.Context(), "swap", []byte(tt.old), []byte(tt.new))
		if err != nil || got != tt.want {
			s.Errorf("step %d, %q to %q: %v, %v, want %v", i, tt.old, tt.new, got, err, tt.want)
		}
		is, err := v.Secret(s.Context(), "swap")
		if string(is) != tt.then || (err != nil) != (tt.then == "") {
			s.Errorf("step %d: the value is %q, %v, want %q", i, is, err, tt.then)
		}
	}
	if _, err := v.SwapSecret(s.Context(), ".a", nil, []byte("x")); err == nil {
		s.Error("an invalid key was accepted")
	}
	// Of several concurrent calls with one old value, exactly one succeeds.
	const callers = 8
	var won atomic.Int32
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			if ok, err := v.SwapSecret(s.Context(), "race", nil, fmt.Appendf(nil, "caller %d", i)); err != nil {
				s.Errorf("caller %d: %v", i, err)
			} else if ok {
				won.Add(1)
			}
		})
	}
	running.Wait()
	if n := won.Load(); n != 1 {
		s.Errorf("%d of %d callers changed the secret, want 1", n, callers)
	}
}

func vaultClosed(s *suite) {
	v := s.Store.(store.Vault)
	check := func(what string, want error, errs ...error) {
		s.Helper()
		for i, err := range errs {
			if !errors.Is(err, want) {
				s.Errorf("%s, call %d: %v, want %v", what, i, err, want)
			}
		}
	}
	call := func(what string, want error) {
		s.Helper()
		ctx := s.Context()
		if what == "ended" {
			ctx = s.ended()
		}
		_, rerr := v.Secret(ctx, "a")
		_, lerr := v.Lease(ctx, "a", "h", time.Minute)
		_, serr := v.SwapSecret(ctx, "a", nil, []byte("x"))
		check(what, want, rerr, lerr, serr, v.PutSecret(ctx, "a", []byte("x")))
	}
	call("ended", s.ended().Err())
	if err := s.Close(); err != nil {
		s.Fatal(err)
	}
	call("closed", store.ErrClosed)
}

// leases checks that only one of several holders has a lease, until this holder ends it or it
// expires.
func leases(s *suite) {
	v := s.Store.(store.Vault)
	lease := func(key, holder string, d time.Duration, want bool) {
		s.Helper()
		if got, err := v.Lease(s.Context(), key, holder, d); err != nil || got != want {
			s.Errorf("lease %s of %s for %v: %v, %v, want %v", key, holder, d, got, err, want)
		}
	}
	lease("k", "a", time.Hour, true)
	lease("k", "b", time.Hour, false)
	lease("other", "b", time.Hour, true)
	lease("k", "a", time.Hour, true)
	lease("k", "b", 0, false) // another holder cannot end the lease
	lease("k", "b", time.Hour, false)
	lease("k", "a", 0, true)
	lease("k", "b", 20*time.Millisecond, true)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) { // expires by the clock of the store
		if ok, err := v.Lease(s.Context(), "k", "a", time.Hour); err != nil || time.Now().After(end) {
			s.Fatalf("the lease does not expire: %v", err)
		} else if ok {
			break
		}
	}
	lease("k", "b", time.Hour, false)
	var winners atomic.Int32
	together(8, func(i int) {
		if ok, err := v.Lease(s.Context(), "new", fmt.Sprint("h", i), time.Hour); err != nil {
			s.Errorf("lease: %v", err)
		} else if ok {
			winners.Add(1)
		}
	})
	if n := winners.Load(); n != 1 {
		s.Errorf("%d of 8 holders have the lease, want 1", n)
	}
}
