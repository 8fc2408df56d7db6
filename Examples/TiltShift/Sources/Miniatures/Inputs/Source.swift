package import Foundation
internal import LibSodium

/// A picture to process.
package struct Source: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        case file(URL)
        /// The text that was given. Whether it is a valid URL shows when it is requested.
        case address(String)
    }

    package let place: Place

    /// Makes a source from a typed text, which is a path or a URL.
    package init(_ text: String) {
        place = text.contains("://") ? .address(text) : .file(URL(fileURLWithPath: text))
    }

    package init(file: URL) { place = .file(file) }

    /// The file name, which is displayed and from which the miniature gets its name. It is a single line, and never a
    /// path.
    package var name: String {
        switch place {
        case .file(let file): return file.lastPathComponent.withoutControls
        case .address(let address):
            let url = URL(string: address)
            // The last path component of a URL may contain slashes, as %2F.
            let last = url?.lastPathComponent.split(separator: "/").last.map { String($0).withoutControls } ?? ""
            return ["", ".", ".."].contains(last) ? url?.host ?? address.withoutControls : last
        }
    }

    /// True if the picture has to be decrypted.
    package var isEncrypted: Bool { name.lowercased().hasSuffix("." + SecretFile.fileExtension) }

    /// The file name without the extensions of its format and of encryption.
    var stem: String {
        var name = name as NSString
        if isEncrypted { name = name.deletingPathExtension as NSString }
        if PictureFormat.readableExtensions.contains(name.pathExtension.lowercased()) {
            name = name.deletingPathExtension as NSString
        }
        return name.length == 0 ? "picture" : name as String
    }

    /// A text that is equal for all names of the same picture.
    var identity: String {
        switch place {
        case .file(let file): file.resolvingSymlinksInPath().standardizedFileURL.path
        case .address(let address): URL(string: address)?.standardized.absoluteString ?? address
        }
    }
}

extension Source {
    /// A text that distinguishes the picture from others with the same name, without disclosing its location.
    var fingerprint: String {
        _ = SecretKey.isLibraryReady
        let text = Array(identity.utf8)
        var hash = [UInt8](repeating: 0, count: crypto_generichash_bytes_min())
        crypto_generichash(&hash, hash.count, text, UInt64(text.count), nil, 0)
        return hash.prefix(8).hexadecimal
    }
}

extension Sequence<UInt8> {
    /// The bytes as hexadecimal text, two digits for each.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension String {
    /// The text with control characters replaced, because terminals interpret them and some end a line.
    fileprivate var withoutControls: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? "_" : $0 }))
    }
}
