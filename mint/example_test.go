package mint_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
)

func ExampleParse() {
	_, err := mint.Parse(name.MustParsePrefix("urn:example"), "a{seq:30}")
	fmt.Println(err)
	// Output: mint: template "a{seq:30}": offset 6: width: invalid number "30": want 0 to 18
}

func ExampleTemplate_Start() {
	t := mint.MustParse("urn:isbn", "978-3-16-{seq:6:148410-}{check}")
	run, err := t.Start(mint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, err := range run.Names() {
		fmt.Println(n, err)
		break
	}
	// Output: urn:isbn:9783161484100 <nil>
}

func ExampleTemplate_Capacity() {
	fmt.Println(mint.MustParse("urn:dns:example.org", "alb{seq:3}").Capacity())
	fmt.Println(mint.MustParse("ark:12345", "{random:8}{check:noid}").Capacity())
	// Output:
	// 999
	// 500246412961
}

func ExampleRun_Names() {
	run, err := mint.MustParse("urn:example", "{seq:1:8-}").Start(mint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, err := range run.Names() {
		var end *mint.ExhaustedError
		if errors.As(err, &end) {
			fmt.Println("no more than", end.Capacity)
			break
		}
		fmt.Println(n)
	}
	// Output:
	// urn:example:8
	// urn:example:9
	// no more than 2
}

func ExampleRun_After() {
	run, err := mint.MustParse("urn:ietf:rfc", "{seq}").Start(mint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.After(name.MustParse("urn:ietf:rfc:9354")), run.After(name.MustParse("urn:ietf:rfc:latest")))
	fmt.Println(run.Next())
	// Output:
	// true false
	// 9355 999999999999990645
}

func ExampleRun_Seek() {
	there := []string{"urn:example:a007", "urn:example:a041"}
	list := func(prefix string) iter.Seq2[name.Name, error] { return listOf(there, prefix) }
	run, err := mint.MustParse("urn:example", "a{seq:3}").Start(mint.Options{})
	if err != nil || run.Seek(list) != nil {
		return
	}
	next, _ := run.Next()
	fmt.Println(run.Under(), next)
	// Output: urn:example:a 42
}

func ExampleSuggest() {
	p := name.MustParsePrefix("urn:dns:example.org")
	t, err := mint.Suggest(p, name.MustParse("urn:dns:example.org:alb002"), mint.Options{})
	fmt.Println(t, err)
	// Output: alb{seq:3} <nil>
}

func ExampleUUIDs_V7() {
	u := mint.NewUUIDs(func() time.Time { return time.UnixMilli(0x017F22E279B0) }, seeded())
	var made []string
	for range 3 {
		s, err := u.V7()
		if err != nil {
			fmt.Println(err)
			return
		}
		made = append(made, s)
	}
	fmt.Println(made[0][:13], slices.IsSorted(made))
	// Output: 017f22e2-79b0 true
}

func ExampleUUIDs_V4() {
	s, err := mint.NewUUIDs(nil, nil).V4()
	fmt.Println(len(s), s[14:15], err)
	// Output: 36 4 <nil>
}

func ExampleTemplate_String() {
	t := mint.MustParse("urn:dns:example.org", "alb{seq:3}")
	fmt.Println(t.Prefix(), t.String())
	// Output: urn:dns:example.org alb{seq:3}
}
