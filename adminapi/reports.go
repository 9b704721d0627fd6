package adminapi

import (
	"context"
	"net/http"
)

// testReportsPath is the path of the request for test messages:
//
//	POST  reports/test   [ReportTest]
const testReportsPath = "reports/test"

// A ReportTest lists the results of sending test messages to the recipients of the reports about
// all names.
type ReportTest struct {
	Deliveries []Delivery `json:"deliveries"`
}

// A Delivery is an attempt to send a message.
type Delivery struct {
	To    string `json:"to"`              // mail address, or "webhook"
	Error string `json:"error,omitempty"` // why the message was not accepted; "" if it was
}

// TestReports makes the server send a test message to each recipient of the reports about all names.
func (c *Client) TestReports(ctx context.Context) (ReportTest, error) {
	return request[ReportTest](ctx, c, http.MethodPost, testReportsPath, nil, nil)
}
