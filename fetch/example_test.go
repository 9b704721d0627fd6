package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nomen-project/nomen/fetch"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/uri"
)

func ExampleFetcher_Fetch() {
	f, err := fetch.New(fetch.Options{})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	r, err := f.Fetch(context.Background(), uri.MustParse("data:text/plain;charset=utf-8,a%20note"), fetch.Request{})
	if err != nil {
		panic(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	fmt.Printf("%s, %d bytes: %s\n", r.Type, r.Size, text)
	// Output: text/plain;charset=utf-8, 6 bytes: a note
}

func ExampleFetcher_Location() {
	f, _ := fetch.New(fetch.Options{Schemes: []string{"http", "https"}})
	defer f.Close()
	_, err := f.Location(context.Background(), "http://0x7f.1/admin")
	var refused *fetch.RefusedError
	fmt.Println(errors.As(err, &refused), refused.Why)
	// Output: true guard: 127.0.0.1 is not a public address: loopback
}

func ExampleFetcher_Open() {
	f, _ := fetch.New(fetch.Options{})
	defer f.Close()
	o, _ := f.Open(context.Background(), uri.MustParse("data:,0123456789#end"), fetch.Request{Offset: 7})
	defer o.Body.Close()
	text, _ := io.ReadAll(o.Body)
	fmt.Printf("from %d: %s, then go to %q\n", o.Offset, text, o.Fragment)
	// Output: from 7: 789, then go to "end"
}

func ExampleFetcher_Save() {
	dir, _ := os.MkdirTemp("", "fetch")
	defer os.RemoveAll(dir)
	f, _ := fetch.New(fetch.Options{})
	defer f.Close()
	file := filepath.Join(dir, "note.txt")
	saved, err := f.Save(context.Background(), uri.MustParse("data:,a%20note"), fetch.Request{}, file, fetch.SaveOptions{})
	if err != nil {
		panic(err)
	}
	text, _ := os.ReadFile(file)
	fmt.Printf("%d bytes: %s\n", saved.Bytes, text)
	// Output: 6 bytes: a note
}

func ExampleSessionError() {
	f, _ := fetch.New(fetch.Options{})
	defer f.Close()
	_, err := f.Fetch(context.Background(), uri.MustParse("telnet://guest@library.example.org/"), fetch.Request{Trusted: true})
	var session *fetch.SessionError
	if errors.As(err, &session) {
		program, args, _ := session.Session.Command(plan.UsualLaunchers())
		fmt.Println(program, args)
	}
	// Output: telnet [-l guest library.example.org]
}

func ExampleReadMenu() {
	menu := "iWelcome\tfake\t(NULL)\t0\r\n0About\t0/About\tgopher.example.org\t70\r\n.\r\n"
	for item, err := range fetch.ReadMenu(strings.NewReader(menu)) {
		if err != nil {
			continue
		}
		if at, err := item.Locator(); err == nil {
			fmt.Println(item.Display, at)
		}
	}
	// Output: About gopher://gopher.example.org/00/About
}
