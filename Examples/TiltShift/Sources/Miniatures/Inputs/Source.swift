package import Foundation
internal import LibSodium

/// A picture to be worked with.
package struct Source: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        case file(URL)
        /// What was given; whether it is an address shows when it is asked.
        case address(String)
    }

    package let place: Place

    /// What somebody typed: a file or an address.
    package init(_ text: String) {
        place = text.contains("://") ? .address(text) : .file(URL(fileURLWithPath: text))
    }

    package init(file: URL) { place = .file(file) }

    /// Its file name, as shown and as what its miniature is named after: one line, and never a path.
    package var name: String {
        switch place {
        case .file(let file): return file.lastPathComponent.withoutControls
        case .address(let address):
            let url = URL(string: address)
            // What a server calls its picture may have slashes in it, as %2F.
            let last = url?.lastPathComponent.split(separator: "/").last.map { String($0).withoutControls } ?? ""
            return ["", ".", ".."].contains(last) ? url?.host ?? address.withoutControls : last
        }
    }

    /// Whether it has to be decrypted.
    package var isEncrypted: Bool { name.lowercased().hasSuffix("." + SecretFile.fileExtension) }

    /// What it was called before it was a JPEG, or was encrypted.
    var stem: String {
        var name = name as NSString
        if isEncrypted { name = name.deletingPathExtension as NSString }
        if PictureFormat.readableExtensions.contains(name.pathExtension.lowercased()) {
            name = name.deletingPathExtension as NSString
        }
        return name.length == 0 ? "picture" : name as String
    }

    /// The same for the same picture, however it was named.
    var identity: String {
        switch place {
        case .file(let file): file.resolvingSymlinksInPath().standardizedFileURL.path
        case .address(let address): URL(string: address)?.standardized.absoluteString ?? address
        }
    }
}

extension Source {
    /// Tells it from others of its name, and does not say where it is.
    var fingerprint: String {
        _ = SecretKey.isLibraryReady
        let text = Array(identity.utf8)
        var hash = [UInt8](repeating: 0, count: crypto_generichash_bytes_min())
        crypto_generichash(&hash, hash.count, text, UInt64(text.count), nil, 0)
        return hash.prefix(8).hexadecimal
    }
}

extension Sequence<UInt8> {
    /// Two digits for each.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension String {
    /// Terminals obey some characters, and lines end at others.
    fileprivate var withoutControls: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? "_" : $0 }))
    }
}
