//go:build clients

package pages

import (
	"context"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
)

// A person uses the pages of a whole with a browser.
type person struct {
	*whole
	ctx context.Context
}

// open goes to a page.
func (p *person) open(path string) *person {
	p.Helper()
	if !strings.HasPrefix(path, "http") {
		path = p.url + Root + path
	}
	p.do(chromedp.Navigate(path))
	return p
}

// click clicks on a link or a button with a text.
func (p *person) click(text string) *person {
	p.Helper()
	p.do(chromedp.Click(`//a[contains(., "` + text + `")] | //button[contains(., "` + text + `")] | //summary[contains(., "` + text + `")] | //label[contains(., "` + text + `")]`))
	return p
}

// enter replaces the text of a field.
func (p *person) enter(field, text string) *person {
	p.Helper()
	p.do(chromedp.Focus("#"+field), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		all := input.DispatchKeyEventParams{Type: "rawKeyDown", Commands: []string{"selectAll"}}
		if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, all); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
	return p
}

// sees waits until the page has a text.
func (p *person) sees(texts ...string) *person {
	p.Helper()
	for _, text := range texts {
		p.do(chromedp.WaitVisible(`//body//*[contains(., "` + text + `")]`))
	}
	return p
}

// patience is how long a step may take.
const patience = 10 * time.Second

// do does one step after the other.
func (p *person) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	for _, step := range steps {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		err := chromedp.Do(ctx, step)
		cancel()
		if err != nil {
			ctx, cancel := context.WithTimeout(p.ctx, patience)
			defer cancel()
			text, _ := chromedp.Run(ctx, chromedp.Text("body"))
			p.Fatalf("%v; the page is:\n%s", err, text)
		}
	}
}

func (p *person) text() string {
	p.Helper()
	return browsertest.See(p, p.ctx, chromedp.Text("body"))
}

// press presses the button of a form, which has other buttons with the same text.
func (p *person) press(selector string) *person {
	p.Helper()
	p.do(chromedp.Click(selector))
	return p
}

// back goes back to the page before.
func (p *person) back() *person {
	p.Helper()
	p.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		all, err := chromedp.NavigationEntries()(ctx, target)
		if err == nil {
			_, err = cdp.Call(ctx, target, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: all.Entries[all.CurrentIndex-1].ID})
		}
		return chromedp.Void{}, err // it does not wait: a page from the cache is not loaded
	})
	return p
}

// signIn signs in at the provider.
func (p *person) signIn(sub string) *person {
	p.Helper()
	p.provider.Claims = map[string]any{"sub": sub, "name": "Someone"}
	return p.open("").click("Sign in with University").sees("Overview")
}

// saveEdit is the button that saves the form of a name.
const saveEdit = "main form p > button[value=save]"

// flows are what people do.
var flows = map[string]func(*person){
	"sign in": func(p *person) {
		p.provider.Claims = map[string]any{"sub": "editor"}
		p.open("names?prefix=urn:dns:example.org").click("Sign in with University").sees("urn:dns:example.org:alb002", "Zoe Zhang")
		p.click("Sign out").sees("You have signed out.")
		p.open("names").sees("Sign in with University")
	},
	"failed sign-ins": func(p *person) {
		fails := func(text string) {
			p.Helper()
			p.open("sign-in").click("Sign in with University").sees("Signing in did not work", text)
			p.open("").sees("Sign in with University")
		}
		p.provider.Claims = map[string]any{"sub": "editor"}
		for key, value := range map[string]any{"nonce": "other", "exp": p.now().Add(-time.Hour).Unix(), "aud": "other", "iss": "https://evil.example"} {
			p.provider.Change = func(id map[string]any) { id[key] = value }
			fails("The answer of the identity provider was not valid")
		}
		p.provider.Change = nil
		p.open("sign-in/at/uni/callback?code=x&state=x").sees("Signing in did not work", "was not begun in this browser")
		p.provider.Answer = url.Values{"error": {"access_denied"}}
		fails("The sign-in was cancelled.")
		p.provider.Answer, p.provider.Claims = nil, map[string]any{"sub": "unknown"}
		p.open("sign-in").click("Sign in with University").sees("No access yet", "the registrar", p.provider.URL+" unknown")
		p.signIn("editor").sees("Zoe Zhang")
	},
	"one-time link": func(p *person) {
		link, _, err := p.manager.Link(p.Context(), "u-admin000")
		if err != nil {
			p.Fatal(err)
		}
		p.open(p.url+link).sees("Anna Berg").click("Sign in").sees("Overview", "Anna Berg")
		p.click("Sign out").sees("You have signed out.")
		p.open(p.url + link).sees("This link was used already")
	},
	"find and edit with a conflict": func(p *person) {
		p.signIn("editor").open("names").enter("q", alb).click("Find").sees("The second album").click("Edit")
		p.enter("location-0-url", "https://example.org/mine").enter("why", "my reason")
		p.theirs("https://example.org/theirs")
		p.press(saveEdit).sees("Another user has saved this name", "https://example.org/theirs", "https://example.org/mine")
		p.press(saveEdit).sees("The changes have been saved.", "https://example.org/mine")
		p.stored("https://example.org/mine", 3)
	},
	"retire, undo, redact": func(p *person) {
		p.signIn("admin").open(nameAt(alb)).click("Retire").enter("reason", "sold out").click("Retire this name").sees("The name has been retired.", "sold out")
		p.open(nameAt(alb)+"/history").click("Undo").sees("Undo revision 2").enter("why", "not sold out").click("Restore this content").sees("The earlier content has been restored.")
		p.stored("https://example.org/albums/2", 3)
		p.open(nameAt(alb)).click("Redact").press("#revision-2").enter("reason", "personal data").enter("typed", "wrong").click("Remove the content").sees("There is a problem", "Enter exactly")
		p.enter("typed", alb).click("Remove the content").sees("The content of these revisions has been removed.")
	},
	"no rights": func(p *person) {
		p.signIn("other").open(nameAt(alb)).sees("You do not have the rights")
		p.open(nameAt("urn:dns:other.example:alb002")).sees("https://other.example/2").click("Edit").enter("location-0-url", "https://other.example/3").press(saveEdit).sees("The changes have been saved.")
	},
	"go back after saving": func(p *person) {
		p.signIn("editor").open(nameAt(alb)+"/edit").enter("location-0-url", "https://example.org/first").press(saveEdit).sees("The changes have been saved.")
		p.back().sees("Edit a name").enter("location-0-url", "https://example.org/second").press(saveEdit).sees("The changes have been saved.")
		p.stored("https://example.org/second", 3)
	},
	"submit twice": func(p *person) {
		p.signIn("editor").open(nameAt(alb)+"/edit").enter("location-0-url", "https://example.org/once")
		p.do(chromedp.DoubleClick(saveEdit))
		p.sees("The changes have been saved.")
		p.stored("https://example.org/once", 2)
	},
	"the session ends in a form": func(p *person) {
		const text = "a \"long\" <reason>, with ümlauts & all"
		p.signIn("editor").open(nameAt(alb)+"/edit").enter("location-0-url", "https://example.org/kept").enter("why", text).enter("same_as", "urn:x-a:1\nurn:x-a:2")
		p.pass(2 * time.Hour)
		p.press(saveEdit).sees("Sign in to continue", "nothing has been saved")
		p.stored("https://example.org/albums/2", 1)
		p.inOtherTab(func(p *person) { p.signIn("editor") })
		p.click("Send the form again").sees("The changes have been saved.")
		p.stored("https://example.org/kept", 2)
		p.open(nameAt(alb) + "/history").sees("with ümlauts")
		if got := p.record(alb).SameAs; !slices.Equal(got, []string{"urn:x-a:1", "urn:x-a:2"}) {
			p.Errorf("other identifiers: %q", got)
		}
	},
}

// manyFlows are what people do with many names, and with rights.
var manyFlows = map[string]func(*person){
	"upload a file with bad lines": func(p *person) {
		file := filepath.Join(p.TempDir(), "names.csv")
		lines := "name,url\nurn:dns:example.org:up1,https://example.org/up1\nno name,https://example.org/2\nurn:dns:example.org:up3,x y\nurn:dns:other.example:up4,https://example.org/4\nurn:dns:example.org:up5,https://example.org/up5\n"
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			p.Fatal(err)
		}
		p.signIn("editor").open("upload").click("Check the file").sees("There is a problem", "Choose a file.")
		p.do(chromedp.SetUploadFiles("#upload", []string{file}))
		p.click("Check the file").sees("Download the rejected lines", "no name", "x y", "urn:dns:other.example:up4", "Apply exactly this: change 2 names")
		p.click("Apply exactly this").sees("There is a problem", "The dry run rejected 3 lines")
		p.press("#skip_rejected").click("Apply exactly this").sees("Show what would be undone", "done")
		if got := p.record("urn:dns:example.org:up1"); got.Locations[0].URL != "https://example.org/up1" || got.Revision != 1 {
			p.Errorf("got %+v", got)
		}
		if _, err := p.store.Get(p.Context(), name.MustParse("urn:dns:other.example:up4"), time.Time{}); err == nil {
			p.Error("a name of another prefix was made")
		}
	},
	"relocate": func(p *person) {
		p.signIn("admin").open("relocate").enter("from", "https://example.org/albums/").enter("to", "x y").click("Show what would change").sees("There is a problem")
		p.enter("to", "https://new.example/albums/").click("Show what would change").sees("https://new.example/albums/2", "Apply exactly this: change 1 name")
		p.stored("https://example.org/albums/2", 1)
		p.enter("typed", "https://example.org/albums/").click("Apply exactly this").sees("Show what would be undone", "done")
		p.stored("https://new.example/albums/2", 2)
	},
	"a second person decides": func(p *person) {
		p.api.Set(admin.Settings{SecondPerson: adminapi.SecondPerson{Redact: true}})
		p.theirs("https://example.org/theirs")
		request := func() {
			p.Helper()
			p.signIn("admin").open(nameAt(alb)+"/redact").sees("another administrator of this name").press("#revision-1").enter("reason", "personal data").enter("typed", alb)
			p.click("Send the request to a second person").sees("waiting for a second person", "Withdraw this request")
			if strings.Contains(p.text(), "Approve") {
				p.Error("the person who made the request can approve it")
			}
		}
		decide := func() *person {
			p.Helper()
			p.click("Sign out").sees("You have signed out.")
			p.signIn("second").press(`a[href^="/-/ui/jobs/"]`)
			return p.sees("Your decision as the second person", "personal data")
		}
		request()
		decide().click("Reject").sees("There is a problem", "Enter a reason")
		p.enter("reason", "it is public").click("Reject").sees("rejected", "Sam Second")
		p.click("Sign out").sees("You have signed out.")
		p.stored("https://example.org/theirs", 2)
		request()
		decide().click("Approve: carry it out").sees("done", "Sam Second")
		p.open(nameAt(alb) + "/history").sees("The content was removed.")
	},
	"give a role": func(p *person) {
		p.signIn("admin").open("users/u-other000").press("#role-editor").enter("prefix", "x y").click("Give this role").sees("There is a problem")
		p.press("#role-editor").enter("prefix", "urn:dns:example.org").click("Give this role").sees("The role has been given.")
		p.click("Sign out").sees("You have signed out.")
		p.signIn("other").open(nameAt(alb)+"/edit").enter("location-0-url", "https://example.org/allowed").press(saveEdit).sees("The changes have been saved.")
		p.stored("https://example.org/allowed", 2)
	},
	"a token is shown once": func(p *person) {
		p.signIn("admin").open("tokens/new").enter("who", "Harvester").enter("prefixes", "urn:dns:example.org").click("Make").sees("shown only this once")
		token := browsertest.See(p, p.ctx, chromedp.AttributeValue("#token", "value")).Value
		if r := p.guest().do("GET", "/api/v1/names/"+alb, nil, "Authorization", "Bearer "+token); token == "" || r.StatusCode != 200 {
			p.Errorf("token %q: got %d", token, r.StatusCode)
		}
		p.open("tokens/made").sees("was shown already")
		p.open("tokens").sees("Harvester")
		if strings.Contains(p.text(), strings.Split(token, ".")[1]) {
			p.Error("the list has the secret")
		}
	},
}

// inOtherTab does something in another tab of the same browser.
func (p *person) inOtherTab(do func(*person)) {
	p.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	browsertest.Do(p, ctx) // a tab ends with the context of its first step
	do(&person{p.whole, ctx})
	cancel()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.BringToFront, cdp.Empty{})
		return err
	}))
}

// theirs saves a change of another user.
func (p *person) theirs(location string) {
	p.Helper()
	rec := p.record(alb).Clone()
	rec.Locations = []nomen.Location{{URL: location}}
	c := store.Change{Record: rec, Expected: store.AnyRevision, Time: p.now(), Who: "u-admin000", Why: "theirs"}
	if _, err := p.store.Apply(p.Context(), []store.Change{c}); err != nil {
		p.Fatal(err)
	}
}

// stored checks the first location and the revision of a name.
func (p *person) stored(location string, revision uint64) {
	p.Helper()
	if got := p.record(alb); got.Locations[0].URL != location || got.Revision != revision {
		p.Errorf("got %q, revision %d, want %q, %d", got.Locations[0].URL, got.Revision, location, revision)
	}
}

// record returns a name as stored.
func (p *person) record(spelling string) *store.Record {
	p.Helper()
	rec, err := p.store.Get(p.Context(), name.MustParse(spelling), time.Time{})
	if err != nil {
		p.Fatal(err)
	}
	return rec
}

// TestClientFlows does what people do, with and without JavaScript.
func TestClientFlows(t *testing.T) {
	all := maps.Clone(flows)
	maps.Copy(all, manyFlows)
	for mode, flags := range map[string][]chromedp.ExecAllocatorOption{"with script": nil, "without script": {browsertest.WithoutScript()}} {
		ctx := browsertest.Start(t, append(flags, chromedp.Flag("disable-features", "BackForwardCache"))...) // chromedp does not notice pages from it
		browsertest.Do(t, ctx, chromedp.Navigate("data:text/html,<title>off</title><script>document.title='on'</script>"))
		if got := browsertest.See(t, ctx, chromedp.Title()); (got == "on") != (flags == nil) {
			t.Fatalf("%s: scripts are %s", mode, got)
		}
		for _, what := range slices.Sorted(maps.Keys(all)) {
			t.Run(mode+"/"+what, func(t *testing.T) {
				browsertest.Do(t, ctx, clearCookies)
				all[what](&person{newWhole(t, nil), ctx})
			})
		}
	}
}

// clearCookies removes the cookies of the flow before: all servers have the same host.
var clearCookies = chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
	_, err := cdp.Call(ctx, target, network.ClearBrowserCookies, cdp.Empty{})
	return err
})
