package signin

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/store"
)

// TestLink: a link works once, after a confirmation, on any node.
func TestLink(t *testing.T) {
	s := newStage(t, nil)
	target, until, err := s.nodes[0].Link(t.Context(), anna)
	if err != nil || !until.Equal(noon.Add(10*time.Minute)) || !strings.HasPrefix(target, "/-/ui/sign-in/link?code=u-anna0000.") {
		t.Fatalf("%q, %v, %v", target, until, err)
	}
	b := s.browser()
	b.node = 1
	for range 2 {
		confirm := b.get(target)
		confirm.want(t, 200, LinkPage, "")
		if confirm.Person != "Ms "+anna || b.user() != "" {
			t.Errorf("page %+v, user %q", confirm.View, b.user())
		}
	}
	code := b.get(target).Code
	b.post(linkPath, linkField, code).wantTo(t, "/-/ui/")
	if b.user() != anna {
		t.Error("not signed in")
	}
	other := s.browser()
	other.post(linkPath, linkField, code).want(t, 410, Failed, FaultLink)
	other.get(target).want(t, 410, Failed, FaultLink)
	if other.user() != "" {
		t.Error("the link worked twice")
	}
}

// TestLinkEnds: a link ends after ten minutes, and when another is made or the user is disabled.
func TestLinkEnds(t *testing.T) {
	s := newStage(t, nil)
	make := func() string {
		target, _, err := s.nodes[0].Link(t.Context(), anna)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(target, "code=")
		return code
	}
	for name, end := range map[string]func(){
		"late":     func() { s.pass(10 * time.Minute) },
		"replaced": func() { make() },
		"disabled": func() { s.people.change(anna, func(p *Person) { p.Disabled = true }) },
		"disabled for a moment": func() {
			s.people.change(anna, func(p *Person) { p.Disabled = true })
			s.people.change(anna, func(p *Person) { p.Disabled = false })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.people.change(anna, func(p *Person) { p.Disabled = false })
			b, code := s.browser(), make()
			end()
			b.post(linkPath, linkField, code).want(t, 410, Failed, FaultLink)
			s.wantCounts("link invalid 1")
			if b.user() != "" {
				t.Error("signed in")
			}
		})
	}
}

// TestLinkOnce: of many uses at the same time, on two nodes, one succeeds.
func TestLinkOnce(t *testing.T) { synctest.Test(t, testLinkOnce) }

func testLinkOnce(t *testing.T) {
	s := newStage(t, nil)
	s.slow()
	target, _, err := s.nodes[0].Link(t.Context(), anna)
	if err != nil {
		t.Fatal(err)
	}
	code := s.browser().get(target).Code
	var running sync.WaitGroup
	var won atomic.Int32
	for i := range 10 {
		running.Go(func() {
			b := s.browser()
			b.node = i % 2
			if p := b.post(linkPath, linkField, code); p.status == 303 {
				won.Add(1)
			}
		})
	}
	running.Wait()
	if won.Load() != 1 {
		t.Errorf("%d times", won.Load())
	}
}

// TestBadLinks: codes of any other form or length are rejected.
func TestBadLinks(t *testing.T) {
	s := newStage(t, nil)
	if _, _, err := s.nodes[0].Link(t.Context(), anna); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"", "x", newCredential(anna).String(), newCredential("u-nobody00").String(), strings.Repeat("x", 9999), "sessions.x"} {
		b := s.browser()
		b.get(linkPath+"?code="+code).want(t, 410, Failed, FaultLink)
		b.post(linkPath, linkField, code).want(t, 410, Failed, FaultLink)
	}
	for _, user := range []string{"u-nobody00", "", "../x", "sessions.x"} {
		if _, _, err := s.nodes[0].Link(t.Context(), user); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Link(%q): %v", user, err)
		}
	}
	s.people.change(anna, func(p *Person) { p.Disabled = true })
	if _, _, err := s.nodes[0].Link(t.Context(), anna); !errors.As(err, new(*store.StateError)) {
		t.Errorf("disabled: %v", err)
	}
}
