package crawl_test

import (
	"context"
	"fmt"
	"os"

	"github.com/nomen-project/nomen/crawl"
)

// A table holds the responses of authorities.
type table map[string][]string

func (t table) Query(_ context.Context, authority, request string) ([]string, error) {
	return t[authority+" "+request], nil
}

func ExampleWalker_Walk() {
	web := table{
		"org.example urn+c":     {"library.example"},
		"library.example urn+p": {"org.example"},
	}
	for n, err := range crawl.New(web, crawl.Options{Delay: -1}).Walk(context.Background(), "org.example") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		_ = crawl.WriteJSON(os.Stdout, n)
	}
	// Output:
	// {"authority":"org.example","relation":"child","name":"library.example"}
	// {"authority":"library.example","relation":"parent","name":"org.example"}
}

func ExampleWriteDOT() {
	_ = crawl.WriteDOT(os.Stdout, []*crawl.Node{
		{Authority: "org.example", Children: []string{"library.example"}},
		{Authority: "library.example", Parents: []string{"urn:dns:org.example"}},
	})
	// Output:
	// digraph authorities {
	// 	rankdir=LR;
	// 	node [shape=box];
	// 	"org.example";
	// 	"library.example";
	// 	"org.example" -> "library.example";
	// }
}

func ExampleAuthority() {
	fmt.Println(crawl.Authority("urn:dns:Library.Example."))
	fmt.Println(crawl.Authority("library/example"))
	// Output:
	// library.example true
	//  false
}
