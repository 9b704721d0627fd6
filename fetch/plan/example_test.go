package plan_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

func ExampleRequestOf() {
	s, _ := extra.Catalogue().Lookup("ftp")
	r, err := plan.RequestOf(s, uri.MustParse("ftp://h.example/pub/read.me;type=a"), plan.Client{Mail: "joe@example.org"})
	fmt.Println(r.Network, r.Host, r.Port, err)
	fmt.Println(strings.Join(r.Commands, "\n"))
	// Output:
	// tcp h.example 21 <nil>
	// USER anonymous
	// PASS joe@example.org
	// TYPE A
	// CWD pub
	// RETR read.me
}

// A client that supports ftp, and a directory that leads to a file on an FTP
// server.
func ExampleRetriever_Follow() {
	r := plan.Retriever{Steps: map[string]plan.Step{
		"prospero": func(_ context.Context, r plan.Request) (plan.Outcome, error) {
			file, err := plan.AccessMethod{Method: "AFTP", Host: "mirror.example", Name: r.Object}.Locator(uri.Latest)
			return plan.Outcome{Locators: []uri.URI{file}}, err
		},
		"ftp": func(_ context.Context, r plan.Request) (plan.Outcome, error) {
			return plan.Outcome{Resource: &plan.Resource{Body: io.NopCloser(strings.NewReader("hello"))}}, nil
		},
	}}
	got, err := r.Follow(context.Background(), uri.MustParse("prospero://h.example/doc.txt"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := io.ReadAll(got.Body)
	fmt.Println(got.URI, string(text))
	// Output: ftp://mirror.example/doc.txt hello
}

func ExampleGateways_Locator() {
	g, err := plan.Gateways{}.With("wais", "http://gw.example/wais?{uri}")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, ok, err := g.Locator(uri.MustParse("wais://h.example/db?cats"))
	fmt.Println(u, ok, err)
	// Output: http://gw.example/wais?wais%3A%2F%2Fh.example%2Fdb%3Fcats true <nil>
}

func ExampleSession_Command() {
	s := plan.SessionOf(uri.MustParse("telnet://guest@library.example:2323/"))
	program, args, err := s.Command(plan.UsualLaunchers())
	fmt.Println(program, args, err)
	// Output: telnet [-l guest library.example 2323] <nil>
}

func ExampleGopherItem_Locator() {
	item, err := plan.ParseGopherItem("8Library catalogue\tguest\tlibrary.example\t23\r\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.Locator())
	// Output: telnet://guest@library.example <nil>
}

func ExampleObject_Resolve() {
	o, err := plan.Object{Fetched: uri.MustParse("ftp://mirror/x/doc")}.WithOfficial(uri.MustParse("http://a/b/doc"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Resolve("g"))
	// Output: http://a/b/g <nil>
}

func ExampleLocalNames_Path() {
	fmt.Println(plan.VMSNames().Path(uri.Draft1993, "[A.B]C.TXT"))
	// Output: A/B/C.TXT <nil>
}
