internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Passes the events of URLSession to the transactions that they belong to.
final class SessionDelegate: NSObject, Sendable {
    private let transactions: RunningTransactions

    init(_ transactions: RunningTransactions) { self.transactions = transactions }
}

extension SessionDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let head = HTTPHead(response)
        // Interim responses (1xx) are ignored, because the transaction waits for the final head.
        if !head.isInterim { transactions[dataTask.taskIdentifier]?.receive(head) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if !data.isEmpty { transactions[dataTask.taskIdentifier]?.receive(data) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transactions[task.taskIdentifier]?.hasSent(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // ``HTTPCall`` follows redirects. URLSession on Linux would resolve relative targets wrongly, and would connect
        // to the original host for targets with other schemes.
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // URLSession does not report a redirect without a valid target to the delegate, so its head is passed here.
        let last = (task.response as? HTTPURLResponse).map { HTTPHead($0) }
        transactions.remove(task.taskIdentifier)?.ended(error, last: last.flatMap { $0.isInterim ? nil : $0 })
    }
}

extension HTTPHead {
    fileprivate init(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            self.init(status: 0, url: response.url)
            return
        }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
        self.init(status: response.statusCode, url: response.url, headers: HTTPHeaders(fields))
    }
}
