package import Baton
internal import BatonNetwork
package import Foundation

/// Downloads the bytes of a picture.
package struct Download: Procedure {
    /// The URL of the picture.
    package let address: String
    /// The time limit of one attempt.
    package let timeout: Duration

    package init(_ address: String, timeout: Duration) {
        self.address = address
        self.timeout = timeout
    }

    package func execute(in context: OperationContext) async throws -> Data {
        let download = HTTPData(address).sizeLimit(PictureFile.sizeLimit).deadline(timeout)
        return try await download.execute(in: context).data
    }
}
