// go get github.com/standard-webhooks/standard-webhooks/libraries && WEBHOOK_SECRET=whsec_… PORT=3000 go run receiver.go
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, wrong := webhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	var known sync.Map // A shop keeps the ids in its database.
	http.HandleFunc("/florin", func(response http.ResponseWriter, request *http.Request) {
		var event struct {
			Type string
			Data struct{ Order struct{ Id string } }
		}
		body, _ := io.ReadAll(request.Body)
		if wrong != nil || webhook.Verify(body, request.Header) != nil || json.Unmarshal(body, &event) != nil {
			response.WriteHeader(400) // Not signed by the proxy, or older than five minutes.
			return
		}
		if _, isKnown := known.LoadOrStore(request.Header.Get("webhook-id"), true); !isKnown && event.Type == "order.paid" {
			fmt.Println(event.Data.Order.Id, "is paid")
		}
		response.WriteHeader(204)
	})
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		http.ServeFile(response, request, "shop.html")
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
